#include "worker/walls/project_walls.h"

#include <fcntl.h>
#include <poll.h>

#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::worker {

// Source: proc_pid_mounts(5), "pollable".
bool ProjectWalls::HaveMountsChanged() {
  pollfd event{mounts_.get(), POLLPRI, 0};
  return !mounts_.valid() || ::poll(&event, 1, 0) != 0;
}

absl::StatusOr<const ChildWalls*> ProjectWalls::Around(const std::vector<std::string>& content) {
  if (options_.mode == "off") return nullptr;
  if (const absl::Status can = CanBuildWalls(); !can.ok()) {
    if (options_.mode != "require") return nullptr;
    return FailedPreconditionError("[cook] walls = \"require\": {}", MessageOf(can));
  }
  if (walls_ != nullptr && content == content_ && !HaveMountsChanged()) return walls_.get();
  walls_.reset();
  // Opened before the walls are built, so that later mounts are noticed.
  mounts_ = FileDescriptor(::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC));
  std::vector<std::string> read_only = options_.read_only;
  read_only.insert(read_only.end(), content.begin(), content.end());
  auto built = ProgramWalls::Build({.read_only = std::move(read_only), .writable = options_.jobs});
  if (!built.ok())
    return FailedPreconditionError(
        "the project cannot be made read-only for programs, as elsewhere on this machine: {} "
        "([cook] walls = \"off\" lets programs run without)",
        MessageOf(built.status()));
  content_ = content;
  walls_ = *std::move(built);
  return walls_.get();
}

}  // namespace galley::worker
