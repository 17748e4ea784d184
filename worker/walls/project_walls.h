// ProjectWalls: the walls around an executor's programs: its project, the content of each job, and
// Galley's own folders for the project are read-only for the programs, except the folder of its
// jobs.
//
// The walls are built when the first program asks, and again when the content lies elsewhere, or
// when something was mounted on the machine since, because a later mount has no walls.
// Threads: one owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "worker/walls/program_walls.h"

namespace galley::worker {

class ProjectWalls {
 public:
  struct Options {
    std::string mode;                    // [cook] walls: "off", "require"; any other text is "best"
    std::vector<std::string> read_only;  // host folders
    std::string jobs;                    // the folder in which programs may write
  };
  explicit ProjectWalls(Options options) : options_(std::move(options)) {}

  // nullptr: no walls, because of `mode` or this machine. `content`: the host folders of the
  // mounts. FAILED_PRECONDITION: the machine refuses, and the mode demands walls; or the machine
  // allows walls, but not around this project.
  absl::StatusOr<const ChildWalls*> Around(const std::vector<std::string>& content);

 private:
  bool HaveMountsChanged();

  const Options options_;
  std::vector<std::string> content_;  // the content that `walls_` protect
  FileDescriptor mounts_;             // tells when the machine's mounts change
  std::unique_ptr<ProgramWalls> walls_;
};

}  // namespace galley::worker
