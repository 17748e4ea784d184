// OpenStore: the one way to a store directory. One process owns it; everyone else reaches it
// through its Unix socket; when there is no owner, the caller becomes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

// Small blobs go to segments, larger ones are files of their own.
inline constexpr uint64_t kSmallBlobBytesMax = 1 << 20;

// Kept free beside what is written, so that RocksDB never meets a full disk. Workers leave it free,
// too: the owner would refuse to adopt what they write beyond.
inline constexpr uint64_t kFreeBytesMargin = 64ull << 20;

struct LocalStoreOptions {
  uint64_t free_bytes_margin = kFreeBytesMargin;  // below it writes are RESOURCE_EXHAUSTED
  // The same for what writes little, and has to go on a disk that is full: opening (to read, or to
  // collect), and collecting.
  uint64_t free_bytes_least = 8ull << 20;
  // The owner begins another segment when its own is larger than this.
  uint64_t segment_bytes_max = 256ull << 20;
  // The most that is written again after a cook (GiveBackDeadBytes), when somebody waits for its
  // end.
  uint64_t moved_bytes_max = 512ull << 20;
  // Blobs put and not yet committed; above either number they are synced and indexed without
  // waiting for a Commit.
  uint64_t pending_blobs_max = 16'384;
  uint64_t pending_bytes_max = 256ull << 20;
  // The index is flushed after so many bytes of the owner's segments, which bounds what an opener
  // reads after a crash.
  uint64_t checkpoint_bytes = 64ull << 20;
  // Wrong bytes are kept for a look, the newest ones.
  uint64_t quarantine_bytes_max = 1ull << 30;
  // By default the time since the machine started (sessions.h), and the time of day; tests let them
  // pass.
  std::function<absl::Time()> boot_time, now;
  std::function<void(absl::Duration)> pause;  // sleeps by default; of what keeps to a rate
  // fdatasync(2) by default; tests let it fail. Returns 0, or -1 with errno.
  std::function<int(int)> sync;
};

// Owner: opens (or makes) the layout in `directory` and holds its lock until it is destroyed.
// ALREADY_EXISTS: another process owns it (try ConnectStore). PERMISSION_DENIED: not writable; says
// what to do. FAILED_PRECONDITION: another format version, or a folder that is no store.
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory);
absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory,
                                                               const LocalStoreOptions& options);

}  // namespace galley::store
