// PathWalk: where the path that a watched program names leads, as the kernel will find it: from the
// caller's working directory or descriptor, through links and "..". Each folder of ours on the way
// is filled, so that what comes after it is there.
//
// It is no wall: a program may change its path, or a link, after it was read here.
//
// Errors: as the folder says, or the caller's memory cannot be read.
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

// Where a path leads.
struct Place {
  std::string path;  // without links, as far as it is there; empty: nowhere of ours
  bool exists = false;
  bool is_empty = false;  // the path is ""
  uint32_t mode = 0;
  std::string absent;              // the first on the way that is not there
  std::vector<std::string> links;  // that led there, elsewhere
};

class PathWalk {
 public:
  explicit PathWalk(const WatchedProgram* program) : program_(*program) {}  // which outlives it

  // Of the path in an argument of the call. `folder_argument`: a descriptor to which it is
  // relative; negative: the working directory. Nowhere: the caller is gone.
  absl::StatusOr<Place> Walk(const WaitingCall& call, int path_argument, int folder_argument,
                             bool follows_last) const;
  // Of `path`, for that caller. `folder`: a link to where a relative path begins; empty: the
  // working directory.
  absl::StatusOr<Place> WalkFrom(const WaitingCall& call, std::string folder, std::string path,
                                 bool follows_last) const;

 private:
  const WatchedProgram& program_;
};

// What the link there says; nullopt: it is none.
std::optional<std::string> LinkAt(const std::string& path);

}  // namespace galley::worker
