// ProgramWalls: a view of the machine in which folders cannot be changed, for programs. It is a
// mount namespace: the folders, all that is mounted below them, and the other places at which
// mounts show the same (PathsTo) are mounted read-only there, whoever looks and by whatever path.
// One folder stays as it is though it lies in one of them.
//
// The namespace belongs to a user namespace of its own in which everybody keeps his number. So it
// is made for an ordinary user, too, and a program of root gets no right to undo it: it has no
// CAP_SYS_ADMIN there, its mounts are locked in every namespace that it makes, and it cannot look
// through /proc at those who have another view. Where no user namespace can be made, root makes the
// mount namespace alone, and its programs lose the rights by which they could get out.
//
// It is a wall for files. The rest of the machine, its devices, sockets and processes, is as it is.
//
// Kernel: 5.12 (mount_setattr).
// Cost: Build forks and takes about 1 ms; a program that enters 10 us.
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
    std::vector<std::string> read_only;  // what is not there is passed over
    std::string writable;                // empty: none
  };
  // UNAVAILABLE: the machine does not let us; which step it refused.
  static absl::StatusOr<std::unique_ptr<ProgramWalls>> Build(const Options& options);

  int EnterInChild() const override;

 private:
  ProgramWalls(FileDescriptor user, FileDescriptor mounts)
      : user_(std::move(user)), mounts_(std::move(mounts)) {}

  const FileDescriptor user_;  // not valid: there is no user namespace
  const FileDescriptor mounts_;
};

// Whether this machine lets us; asked once. UNAVAILABLE: why not, and what to do.
absl::Status CanBuildWalls();

}  // namespace galley::worker
