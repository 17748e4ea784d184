// CallWatch: watches the calls by which a program and its descendants use a folder whose files come
// only when they are needed, and fills the folder before each call is carried out (seccomp user
// notification, seccomp_unotify(2)).
//
// Calls that name a path wait for Serve. Serve finds out where the path leads (PathWalk), fills
// every folder of ours on the way, and fetches the bytes of a file that is opened or run. Then the
// kernel carries the call out unchanged. Calls that would change the folder or the tools are
// answered EROFS, hard links to their files EXDEV (FileAnswers).
//
// Looks at paths elsewhere are noted (NotedLooks), to be compared with the project's machine.
//
// Some calls end the run (has_failed): calls that escape the watch (mounts, another root, another
// ABI), calls that tell the folder's host path (readlink, getcwd), and calls to servers, which
// could look into the folder unwatched (SocketAnswers). Calls of io_uring, clone3 and calls that
// are newer than this code are answered ENOSYS, as by an older kernel (CallFilter).
//
// The watch is no wall: a program can get around the watch, for example by changing a path while we
// read it. Such a program finds files of the right size, but without their bytes.
//
// When a file cannot be fetched, the call is answered EIO, and the run has failed.
//
// Cost: 10 to 20 us for each call that names a path, on a machine with a free core.
// Kernel: 5.10 with CONFIG_SECCOMP_FILTER; CanWatchCalls tells.
// Threads: one owner; while the program starts, another thread serves (ChildProcess::Start).
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/child_process.h"
#include "common/base/file.h"
#include "worker/walls/file_answers.h"
#include "worker/walls/looks.h"
#include "worker/walls/noted_looks.h"
#include "worker/walls/path_walk.h"
#include "worker/walls/socket_answers.h"
#include "worker/walls/waiting_call.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

class CallWatch final : public ChildWatch {
 public:
  explicit CallWatch(WatchedProgram program);
  ~CallWatch() override;

  int BeginInChild() const override;
  void Take(FileDescriptor calls) override;
  int descriptor() const override { return calls_.get(); }
  void Serve() override;
  bool has_failed() const override { return !trouble().ok(); }
  absl::Status CheckWritten(const std::string& folder) const override;
  // Why the run has failed; OK: the run has not failed. FAILED_PRECONDITION: a call cannot be
  // watched; other errors: the folder cannot be filled.
  const absl::Status& trouble() const { return trouble_.ok() ? looks_.error() : trouble_; }
  // REQUIRES: the program has ended.
  const Looks& looks() { return looks_.All(); }

 private:
  int ErrorFor(const WaitingCall& call);
  CallAnswer Answer(const WaitingCall& call);

  const WatchedProgram program_;
  const std::vector<char> filter_;  // sock_filter; read in the child, too
  FileDescriptor calls_;
  std::vector<char> request_, response_;
  absl::Status trouble_;
  const PathWalk paths_{&program_};
  NotedLooks looks_{&program_};
  FileAnswers files_{{.program = program_, .paths = paths_, .looks = looks_}};
  SocketAnswers sockets_{{.program = program_, .paths = paths_, .looks = looks_}};
};

}  // namespace galley::worker
