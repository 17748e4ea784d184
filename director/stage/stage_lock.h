// StageLock: one stage at a time for each sandbox, whoever stages: cooks of other projects,
// directors of other machines, `galley apply` and `galley checkout` (LockFolder in sandbox.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::director {

// Makes the folder if it is absent, and waits until nobody else stages there; the lock is held
// until the descriptor is closed. Meanwhile `may_wait` is called again and again: false gives up
// (CANCELLED). On a file system without such locks, logs that and locks nothing. Blocks.
absl::StatusOr<FileDescriptor> LockSandbox(const std::string& directory,
                                           const std::function<bool()>& may_wait);

// Returns the process that holds the lock of the folder, from /proc/locks. nullopt: no process
// holds it, or a process of another machine or container does.
std::optional<pid_t> LockHolder(const std::string& directory);

}  // namespace galley::director
