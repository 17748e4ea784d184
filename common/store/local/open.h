// OpenLocalStore: opens a store directory as its owner. One process owns a store; all others reach
// it through its Unix socket (store/owner).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

// The most bytes of a small blob: small blobs go to segments, larger blobs to files.
inline constexpr uint64_t kSmallBlobBytesMax = 1 << 20;

// Kept free beside every write, so that RocksDB never meets a full disk. Workers keep it free, too:
// the owner would refuse to adopt blobs that need this space.
inline constexpr uint64_t kFreeBytesMargin = 64ull << 20;

struct LocalStoreOptions {
  uint64_t free_bytes_margin = kFreeBytesMargin;  // below: RESOURCE_EXHAUSTED
  // The margin for tasks that write little and have to work on a full disk: a collection, and the
  // opening of a store that is to be read or collected.
  uint64_t free_bytes_least = 8ull << 20;
  // The owner begins another segment when its segment is larger than this.
  uint64_t segment_bytes_max = 256ull << 20;
  // The most bytes that GiveBackDeadBytes writes again, since a cook waits for its end.
  uint64_t moved_bytes_max = 512ull << 20;
  // Limits of blobs that were put and not committed; above either, the blobs are committed without
  // waiting for a Commit.
  uint64_t pending_blobs_max = 16'384;
  uint64_t pending_bytes_max = 256ull << 20;
  // The index is flushed after this many bytes of the owner's segments: the most that an opener
  // reads after a crash.
  uint64_t checkpoint_bytes = 64ull << 20;
  // The most wrong bytes that the quarantine keeps; the newest stay.
  uint64_t quarantine_bytes_max = 1ull << 30;
  // Clocks; default: the time since the machine started (sessions.h), and the time of day. Tests
  // set their own.
  std::function<absl::Time()> boot_time, now;
  std::function<void(absl::Duration)> pause;  // of tasks with a rate limit; default: sleeps
  // Syncs a descriptor; returns 0, or -1 with errno. Default: fdatasync(2).
  std::function<int(int)> sync;
};

// Opens or makes the store in `directory`, and holds its lock until destruction. ALREADY_EXISTS:
// another process owns it (try ConnectStore). PERMISSION_DENIED: not writable; the text says what
// to do. FAILED_PRECONDITION: another format version, or a folder that is no store.
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory);
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory,
                                                               const LocalStoreOptions& options);

}  // namespace galley::store
