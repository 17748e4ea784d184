// RemoteCache: a remote store behind ours, seen through what it can do well: many blobs at a time,
// and results. It promises nothing; whoever asks it gets bytes that were verified, or is told that
// there are none.
//
// Trouble there is no error here: a server that is down, slow, evicting, corrupt or lying has
// nothing. Errors are those of our own side (`into`, `from`), except where a method says so. As a
// BlobStore it answers UNAVAILABLE and so on, like any other.
//
// Threads: all methods may be called from many threads, and block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::store {

// How long a question may take with all that it tries again, and what ends it before.
struct RemoteLimits {
  absl::Duration patience = absl::Seconds(30);
  // Beside that: the time of what is moved, at least 1 MB/s.
  Cancellation* cancellation = nullptr;
  // A cook waits for what is read: a try that hangs is not made again, and how long it took counts
  // for whether the remote is read from at all (RemoteState::GivenUp). Then there is no answer.
  bool is_waited_for = false;
  // How long one try may hang, beside the time of what it moves.
  absl::Duration stall_max = absl::InfiniteDuration();
};

struct RemoteState {
  std::string url;
  bool is_down = false;
  bool takes_results = true;  // as the server said of itself; before it is asked, who knows
  absl::Time down_since;      // monotonic; while it is down
  std::string reason;         // the last failure, for people
  uint64_t blobs_fetched = 0, bytes_fetched = 0;
  uint64_t blobs_sent = 0, bytes_sent = 0;
  uint64_t blobs_came = 0;   // for those who looked: right and wrong ones
  uint64_t blobs_wrong = 0;  // their bytes were not those of their digest
  // Why it is not read from any more in this cook.
  enum class GivenUp { kNo, kWrongBlobs, kSlow };
  GivenUp given_up = GivenUp::kNo;
  absl::Duration lost;            // by reads that took too long, or brought nothing right
  uint64_t blobs_repaired = 0;    // were wrong, and are right since they were sent again
  uint64_t blobs_kept_wrong = 0;  // were sent again, and are as wrong as before
  uint64_t calls_failed = 0;      // with all their tries
};

class RemoteCache : public BlobStore {
 public:
  using BlobStore::FindMissing;
  // Returns the digests that the remote lacks. UNAVAILABLE and others: it did not answer.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests,
                                                          const RemoteLimits& limits) = 0;
  using BlobStore::Get;
  // Verified, in memory. NOT_FOUND; DATA_LOSS: other bytes came; or why the remote did not answer.
  virtual absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits) = 0;
  // Puts what the remote has of `digests` into `into`; answers those that could not be had.
  virtual absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests,
                                                    BlobStore& into,
                                                    const RemoteLimits& limits) = 0;
  // Returns the digests that are to be sent though the remote says that it has them: their bytes
  // came from there and were wrong, or so many were wrong that the remote is believed only for
  // blobs that this cook has sent.
  virtual std::vector<Digest> Doubted(std::span<const Digest> digests) = 0;
  // Sends blobs, whether the remote has them or not: ask FindMissing before. An error: not all were
  // taken.
  virtual absl::Status Send(std::span<const Digest> digests, BlobStore& from,
                            const RemoteLimits& limits) = 0;
  // Encoded ActionResults as the server has them, whatever they name; nullopt: none, or no answer.
  virtual std::vector<std::optional<std::string>> ActionResults(std::span<const Digest> keys,
                                                                const RemoteLimits& limits) = 0;
  // The last writer wins. PERMISSION_DENIED: the server lets us only read.
  virtual absl::Status UpdateActionResult(const Digest& key, std::string_view result,
                                          const RemoteLimits& limits) = 0;
  virtual RemoteState State() const = 0;
  // Ends the calls that are under way; from here on there is no answer to any.
  virtual void Stop() = 0;
};

}  // namespace galley::store
