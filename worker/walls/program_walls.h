// ProgramWalls: a view of the machine, for programs, in which some folders cannot be changed. The
// view is a mount namespace. In the view the folders, everything mounted below them, and the other
// places at which mounts show the same files (PathsTo) are mounted read-only, for every user and by
// every path. A single folder stays writable even if it lies in a read-only folder.
//
// The mount namespace belongs to a user namespace of its own, which maps every user to itself. So
// an ordinary user can make the view, and a program of root gets no right to undo it: the program
// has no CAP_SYS_ADMIN there, its mounts are locked in every namespace that it makes, and it cannot
// look through /proc at processes with another view. Where no user namespace can be made, root
// makes the mount namespace alone, and its programs lose the rights by which they could get out.
//
// The walls protect files. Devices, sockets and processes of the machine stay as they are.
//
// Kernel: 5.12 (mount_setattr).
// Cost: Build forks and takes about 1 ms; entering takes a program 10 us.
// Threads: any, once built.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/child_process.h"
#include "common/base/file.h"

namespace galley::worker {

class ProgramWalls final : public ChildWalls {
 public:
  struct Options {
    std::vector<std::string> read_only;  // absent folders are skipped
    std::string writable;                // empty: no folder
  };
  // UNAVAILABLE: the machine refuses; the message says at which step.
  static absl::StatusOr<std::unique_ptr<ProgramWalls>> Build(const Options& options);

  int EnterInChild() const override;

 private:
  ProgramWalls(FileDescriptor user, FileDescriptor mounts)
      : user_(std::move(user)), mounts_(std::move(mounts)) {}

  const FileDescriptor user_;  // not valid: there is no user namespace
  const FileDescriptor mounts_;
};

// Whether this machine allows walls; tested once. UNAVAILABLE: why not, and what to do.
absl::Status CanBuildWalls();

}  // namespace galley::worker
