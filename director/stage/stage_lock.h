// StageLock: allows one stage at a time for each sandbox, among cooks of other projects, directors
// of other machines, `galley apply` and `galley checkout` (LockFolder in sandbox.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::director {

// Makes the folder if it is absent, and waits for its lock, which is held until the descriptor is
// closed. While waiting calls `may_wait` again and again: false ends the wait (CANCELLED). On a
// file system without such locks, logs that and locks nothing. Blocks.
absl::StatusOr<FileDescriptor> LockSandbox(const std::string& directory,
                                           const std::function<bool()>& may_wait);

// Returns the process that holds the folder's lock, from /proc/locks. nullopt: no process, or a
// process of another machine or container.
std::optional<pid_t> LockHolder(const std::string& directory);

}  // namespace galley::director
