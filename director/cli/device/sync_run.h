// Sync: makes a folder a copy of the cooked tree, or of some of its folders. Only what differs is
// fetched.
//
// Threads: one sync of a handle at a time; it starts threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "director/cli/device/handle.h"
#include "director/cli/device/target_folder.h"

namespace galley::device {

struct SyncEvent {
  enum class Kind { kWritten, kRemoved, kKept, kFailed };
  Kind kind = Kind::kWritten;
  std::string path;
  std::string text;  // why it failed, or was kept
};

struct SyncReport {
  std::string root;
  uint64_t files = 0;      // that the copy has to have
  uint64_t written = 0;    // of these, now
  uint64_t bytes = 0;      // of what was written
  uint64_t last_good = 0;  // of these, an earlier version, as the package fails
  uint64_t failed = 0;
  uint64_t removed = 0;
  uint64_t kept = 0;     // the tree has them no more, and somebody has changed them here
  uint64_t foreign = 0;  // lie in the folder, and no sync put them there
};

struct SyncOptions {
  std::vector<std::string> scopes;  // sorted; empty: all
  size_t threads = 8;
  // Both are called by one thread at a time.
  std::function<void(const SyncEvent&)> tell;
  std::function<void(const SyncReport& so_far)> progress;
};

// Goes to the newest world, again where it changes meanwhile. Errors that concern one file only are
// told, and counted in `failed`. NOT_FOUND: a scope is no path of the tree, and never was copied.
absl::StatusOr<SyncReport> Sync(Handle& handle, TargetFolder& folder, const SyncOptions& options);

}  // namespace galley::device
