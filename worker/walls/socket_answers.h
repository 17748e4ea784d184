// SocketAnswers: what becomes of the calls by which a watched program talks through sockets. It may
// talk to those that it started, through sockets that it made; other servers could look for it into
// the folder, or be others, or none, on another machine, and end the run.
//
// Errors: FAILED_PRECONDITION: it talks to another server; else as PathWalk.
// Threads: one; blocks while the folder is filled.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "worker/walls/noted_looks.h"
#include "worker/walls/path_walk.h"
#include "worker/walls/waiting_call.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

class SocketAnswers {
 public:
  // All outlive it.
  struct Deps {
    const WatchedProgram& program;
    const PathWalk& paths;
    NotedLooks& looks;
  };

  explicit SocketAnswers(Deps deps) : deps_(deps) {}

  // REQUIRES: call.watched is of kTalk.
  CallAnswer Talk(const WaitingCall& call);

 private:
  CallAnswer TalkTo(const WaitingCall& call, uint64_t address, uint64_t size_bytes);

  const Deps deps_;
  std::set<std::string, std::less<>> servers_;  // by the program: names of sockets without a file
};

}  // namespace galley::worker
