// FileAnswers: answers the calls by which a watched program looks at, opens, runs or changes files.
// Before a call goes on, the folder has the files that the call needs, and the call's looks are
// noted. A call that would change the folder or the tools is answered EROFS, a hard link to their
// files EXDEV.
//
// Errors: as the folder's; FAILED_PRECONDITION: the call cannot be watched, or tells the folder's
// host path.
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

  // REQUIRES: call.watched->what is the function's kind, or the kind in the comment beside it.
  CallAnswer Look(const WaitingCall& call);
  CallAnswer ReadLink(const WaitingCall& call);
  CallAnswer Open(const WaitingCall& call);  // also for kOpenByStruct
  CallAnswer Run(const WaitingCall& call);
  CallAnswer Change(const WaitingCall& call);  // also for kMake
  CallAnswer ChangeOpened(const WaitingCall& call);
  CallAnswer TellPlace(const WaitingCall& call);

 private:
  absl::Status FillInterpreters(const WaitingCall& call, const Place& program, int depth);

  const Deps deps_;
};

}  // namespace galley::worker
