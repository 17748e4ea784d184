// ProjectWalls: the walls around the programs of one executor: its project, the content of each
// job, and what else Galley keeps for it are read-only for them, but for the folder of its jobs.
//
// The walls are built when the first program asks, and again when the content lies elsewhere, or
// when something was mounted on the machine since: what is mounted later has no walls.
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
    std::string mode;                    // [cook] walls: "off", "require"; all else is "best"
    std::vector<std::string> read_only;  // host folders
    std::string jobs;                    // the folder in which programs may write
  };
  explicit ProjectWalls(Options options) : options_(std::move(options)) {}

  // nullptr: there are none, as `mode` and this machine have it. `content`: the host folders of the
  // mounts. FAILED_PRECONDITION: the machine does not let us, and the mode demands them; or it lets
  // us, but not around this project.
  absl::StatusOr<const ChildWalls*> Around(const std::vector<std::string>& content);

 private:
  bool HaveMountsChanged();

  const Options options_;
  std::vector<std::string> content_;  // for which `walls_` are
  FileDescriptor mounts_;             // tells when the machine's mounts change
  std::unique_ptr<ProgramWalls> walls_;
};

}  // namespace galley::worker
