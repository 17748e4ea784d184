// SocketAnswers: the answers to calls by which a watched program talks through sockets. The program
// may talk to its own descendants, through sockets that it made. Talking to another server ends the
// run: the server could look into the folder for the program, or be different or absent on another
// machine.
//
// Errors: FAILED_PRECONDITION: the program talks to another server; else as PathWalk.
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
  // The referenced objects outlive the SocketAnswers.
  struct Deps {
    const WatchedProgram& program;
    const PathWalk& paths;
    NotedLooks& looks;
  };

  explicit SocketAnswers(Deps deps) : deps_(deps) {}

  // REQUIRES: call.watched->what is kTalk.
  CallAnswer Talk(const WaitingCall& call);

 private:
  CallAnswer TalkTo(const WaitingCall& call, uint64_t address, uint64_t size_bytes);

  const Deps deps_;
  std::set<std::string, std::less<>> servers_;  // abstract names of the program's sockets
};

}  // namespace galley::worker
