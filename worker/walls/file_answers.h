// FileAnswers: the answers to calls by which a watched program looks at files, opens, runs and
// changes them. Before a call goes on, the folder has what the call will need; what the call finds
// is noted. A call that would change the folder or the tools is answered EROFS, a hard link to a
// file in them EXDEV.
//
// Errors: as the folder says; FAILED_PRECONDITION: the call cannot be watched, or tells where the
// folder really is.
// Threads: one; blocks while the folder is filled.
#pragma once

#include "absl/status/status.h"
#include "worker/walls/noted_looks.h"
#include "worker/walls/path_walk.h"
#include "worker/walls/waiting_call.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

class FileAnswers {
 public:
  // The referenced objects outlive the FileAnswers.
  struct Deps {
    const WatchedProgram& program;
    const PathWalk& paths;
    NotedLooks& looks;
  };

  explicit FileAnswers(Deps deps) : deps_(deps) {}

  // REQUIRES, for each function: call.watched is set, and its `what` has the function's name.
  CallAnswer Look(const WaitingCall& call);
  CallAnswer ReadLink(const WaitingCall& call);
  CallAnswer Open(const WaitingCall& call);
  CallAnswer Run(const WaitingCall& call);
  CallAnswer Change(const WaitingCall& call);  // also for kMake
  CallAnswer ChangeOpened(const WaitingCall& call);
  CallAnswer TellPlace(const WaitingCall& call);

 private:
  absl::Status FillInterpreters(const WaitingCall& call, const Place& program, int depth);

  const Deps deps_;
};

}  // namespace galley::worker
