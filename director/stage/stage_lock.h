// One stage at a time for each sandbox, whoever stages: cooks of other projects, directors of other
// machines, `galley apply` and `galley checkout` (LockFolder in sandbox.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::director {

// Makes the folder if it is absent, and waits until nobody else stages there; the lock is held
// until the descriptor is closed. `may_wait` is asked again and again meanwhile: false gives up
// (CANCELLED). A file system without such locks is logged and gives none. Blocking.
absl::StatusOr<FileDescriptor> LockSandbox(const std::string& directory,
                                           const std::function<bool()>& may_wait);

// The process that holds the lock of the folder, as /proc/locks has it. nullopt: nobody does, or
// the process is of another machine or container.
std::optional<pid_t> LockHolder(const std::string& directory);

}  // namespace galley::director
