// The commands of galley-worker: the work of its subcommands. Each function returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galley::worker {

inline constexpr int kExitVerdict = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitOther = 3;

struct SessionFlags {
  std::string director;
  std::string worker_id;
  uint32_t slots = 1;
  bool is_without_files = false;               // see SessionConfig
  std::vector<std::string> labels, resources;  // what this machine has (record::ParseOffer)
  std::string cache_directory;
  std::string shared_path;
  uint64_t cache_bytes_max = 0;
  std::string scratch_directory;
  bool stays = false;        // the worker waits endlessly for a director
  bool is_launched = false;  // if no director answers at the start, none will
  bool is_until_input_ends = false;
  bool enrolls = false;  // the director gives the certificate, in exchange for the token
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
