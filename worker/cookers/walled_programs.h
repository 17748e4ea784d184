// WalledPrograms: what a CookContext that puts walls around a cooker's programs is as well.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/child_process.h"

namespace galley::worker {

class WalledPrograms {
 public:
  virtual ~WalledPrograms() = default;
  // What each program is started with, until the next call; nullptr: nothing keeps it from changing
  // the project. FAILED_PRECONDITION: no program may run, and why.
  virtual absl::StatusOr<const ChildWalls*> Walls() = 0;
};

}  // namespace galley::worker
