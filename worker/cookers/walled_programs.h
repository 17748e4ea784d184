// WalledPrograms: a second interface of a CookContext that puts walls around a cooker's programs.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/child_process.h"

namespace galley::worker {

class WalledPrograms {
 public:
  virtual ~WalledPrograms() = default;
  // The walls for every program that is started until the next call; nullptr: nothing keeps
  // programs from changing the project. FAILED_PRECONDITION: no program may run; the message says
  // why.
  virtual absl::StatusOr<const ChildWalls*> Walls() = 0;
};

}  // namespace galley::worker
