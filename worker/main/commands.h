// The work of galley-worker's subcommands. Each returns the exit code.
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
  bool is_without_files = false;               // SessionConfig
  std::vector<std::string> labels, resources;  // what its machine has (record::ParseOffer)
  std::string cache_directory;
  std::string shared_path;
  uint64_t cache_bytes_max = 0;
  std::string scratch_directory;
  bool stays = false;        // it waits for a director for ever
  bool is_launched = false;  // no director at the beginning: nobody will come
  bool is_until_input_ends = false;
  bool enrolls = false;  // its certificate comes from the director, in exchange for its token
  std::string tls_ca, tls_cert, tls_key;  // files
};

int Describe();
// Prints why programs have no walls here (walls/program_walls.h), and what to do; 0: they have.
int TellWalls();
int ExecActionIn(const std::string& directory);
int CookHere(const std::string& cooker);
int RunExecutorHere();
// The token is read from the descriptor that GALLEY_TOKEN_FD names, or from the file that
// GALLEY_TOKEN_FILE names.
int RunSessionWith(const SessionFlags& flags);

}  // namespace galley::worker
