// WaitingCall: a system call of a watched program that waits for its answer (seccomp_unotify(2)),
// and the memory of the calling process.
//
// The caller may be killed at any time, and another process may get its number: what was read under
// the number counts only if the call still Waits() afterwards.
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
  int listener = -1;  // the descriptor for the answer
  uint64_t id = 0;
  const WatchedCall* watched = nullptr;  // null: a call of another ABI, or that makes mounts
  pid_t process = 0;
  uint64_t arguments[6] = {};

  uint64_t At(int argument) const { return arguments[static_cast<size_t>(argument)]; }
  // False: the caller is gone. Must be called after something was read from the caller, and before
  // the result is used.
  bool Waits() const;
  // The string at this address of the process. nullopt: the string is too long or not there; the
  // call itself finds out (ENAMETOOLONG, EFAULT). Errors: the memory cannot be read.
  absl::StatusOr<std::optional<std::string>> ReadText(uint64_t address) const;
  // Copies bytes of the process; false: they are not there.
  bool ReadMemory(uint64_t address, void* bytes, size_t size) const;
};

// The answer to a call: an error number, or 0, and the call goes on. A status: the call is answered
// EIO, and the run of the program has failed.
using CallAnswer = absl::StatusOr<int>;

// FAILED_PRECONDITION: the program does `what` (a verb in the present tense), whose result may
// differ on a machine without the project.
absl::Status CannotBeWatched(std::string_view what);

}  // namespace galley::worker
