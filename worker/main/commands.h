// The commands of galley-worker: the work of its subcommands. Each function returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "worker/session/session_shell.h"

namespace galley::worker {

inline constexpr int kExitVerdict = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitOther = 3;

struct SessionFlags {
  SessionConfig config;                        // as far as flags say it
  std::vector<std::string> labels, resources;  // what this machine has (record::ParseOffer)
  bool stays = false;                          // the worker waits endlessly for a director
  bool is_launched = false;  // without a director at the beginning, no director will come
  bool enrolls = false;      // the director gives the certificate, in exchange for the token
  std::string tls_ca, tls_cert, tls_key;  // paths of files
};

int Describe();
// Prints why programs have no walls here (walls/program_walls.h), and what to do. 0: they have
// walls.
int TellWalls();
int ExecActionIn(const std::string& directory);
int CookHere(const std::string& cooker);
int RunExecutorHere();
// The token is read from the descriptor that GALLEY_TOKEN_FD names, or from the file that
// GALLEY_TOKEN_FILE names.
int RunSessionWith(const SessionFlags& flags);

}  // namespace galley::worker
