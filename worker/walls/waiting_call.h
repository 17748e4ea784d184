// WaitingCall: a system call of a watched program, which waits for its answer (seccomp_unotify(2)),
// and the memory of the process that made it.
//
// The caller may be killed at any time, and its number be another process's then: what was read
// under its number counts only if it still Waits() afterwards.
//
// Threads: one; nothing blocks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/walls/watched_calls.h"

namespace galley::worker {

struct WaitingCall {
  int listener = -1;  // the descriptor by which it is answered
  uint64_t id = 0;
  const WatchedCall* watched = nullptr;  // null: of another ABI, or one that makes mounts
  pid_t process = 0;
  uint64_t arguments[6] = {};

  uint64_t At(int argument) const { return arguments[static_cast<size_t>(argument)]; }
  // False: the caller is gone. Asked after something was read of it, and before it is used.
  bool Waits() const;
  // The string at that address of the process. nullopt: it is too long or not there (ENAMETOOLONG
  // and EFAULT are the call's own to find). Errors: the memory cannot be read.
  absl::StatusOr<std::optional<std::string>> ReadText(uint64_t address) const;
  // Bytes of the process; false: they are not there.
  bool ReadMemory(uint64_t address, void* bytes, size_t size) const;
};

// What becomes of a call: an error number that it is answered with, or 0, and it goes on. A status:
// it is answered EIO, and the run of the program has failed.
using CallAnswer = absl::StatusOr<int>;

// FAILED_PRECONDITION: the program does `what` (a verb in the present tense), of which something
// else may come on a machine without the project.
absl::Status CannotBeWatched(std::string_view what);

}  // namespace galley::worker
