// PathWalk: finds where a path that a watched program names leads, as the kernel will find it: from
// the caller's working directory or descriptor, through links and "..". Fills each folder of ours
// on the way, so that the next name in the path is there.
//
// The walk is no wall: a program may change its path, or a link, after the walk.
//
// Errors: the folder's; or the caller's memory cannot be read.
// Threads: one; blocks while a folder is filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/walls/waiting_call.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

// Place: the place to which a path leads.
struct Place {
  std::string path;  // without links; empty: a folder on the way is absent, or no file is meant
  bool exists = false;
  bool is_empty = false;  // the path is ""
  uint32_t mode = 0;
  std::string absent;              // the first name on the way that is absent
  std::vector<std::string> links;  // links outside of our folder on the way
};

class PathWalk {
 public:
  // `program` outlives the walk.
  explicit PathWalk(const WatchedProgram* program) : program_(*program) {}

  // Walks the path in an argument of the call. `folder_argument`: the descriptor to which the path
  // is relative; negative: the working directory. An empty Place: the caller is gone.
  absl::StatusOr<Place> Walk(const WaitingCall& call, int path_argument, int folder_argument,
                             bool follows_last) const;
  // Walks `path` for the caller. `folder`: a link to the folder in which a relative path begins;
  // empty: the working directory.
  absl::StatusOr<Place> WalkFrom(const WaitingCall& call, std::string folder, std::string path,
                                 bool follows_last) const;

 private:
  const WatchedProgram& program_;
};

// The target of the link at `path`; nullopt: there is no link.
std::optional<std::string> LinkAt(const std::string& path);

}  // namespace galley::worker
