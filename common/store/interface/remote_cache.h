// RemoteCache: a remote store behind our store, by the calls that suit a remote: many blobs at a
// time, and results. The remote promises nothing: callers get verified bytes, or hear that there
// are none.
//
// A fault of the remote is no error: a server that is down, slow, evicting, corrupt or lying counts
// as empty. Errors are faults of our own side (`into`, `from`), except where a method says
// otherwise. The methods of BlobStore return UNAVAILABLE and so on, like any BlobStore.
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

// RemoteLimits: bounds for one question, all its tries included.
struct RemoteLimits {
  absl::Duration patience = absl::Seconds(30);
  // For the whole question; more time is added for moved bytes, at 1 MB/s.
  Cancellation* cancellation = nullptr;
  // True: a cook waits for the read. A try that hangs is not repeated, and the time it took counts
  // toward giving up reads from the remote (RemoteState::GivenUp); after that nothing is answered.
  bool is_waited_for = false;
  // For one try; more time is added for moved bytes.
  absl::Duration stall_max = absl::InfiniteDuration();
};

struct RemoteState {
  std::string url;
  bool is_down = false;
  bool takes_results = true;  // the server's word; true until the server is asked
  absl::Time down_since;      // monotonic; while it is down
  std::string reason;         // the last failure, for people
  uint64_t blobs_fetched = 0, bytes_fetched = 0;
  uint64_t blobs_sent = 0, bytes_sent = 0;
  uint64_t blobs_came = 0;   // received for callers, right and wrong blobs
  uint64_t blobs_wrong = 0;  // of blobs_came: bytes did not have the digest
  // Why this cook reads no more from the remote.
  enum class GivenUp { kNo, kWrongBlobs, kSlow };
  GivenUp given_up = GivenUp::kNo;
  absl::Duration lost;            // in reads that took too long or gave nothing right
  uint64_t blobs_repaired = 0;    // wrong blobs that are right after sending again
  uint64_t blobs_kept_wrong = 0;  // wrong blobs that are still wrong after sending again
  uint64_t calls_failed = 0;      // after all their tries
};

class RemoteCache : public BlobStore {
 public:
  using BlobStore::FindMissing;
  // Returns the digests that the remote lacks. UNAVAILABLE and others: it did not answer.
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests,
                                                          const RemoteLimits& limits) = 0;
  using BlobStore::Get;
  // Returns verified bytes, in memory. NOT_FOUND; DATA_LOSS: wrong bytes came; other errors: why
  // the remote did not answer.
  virtual absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits& limits) = 0;
  // Puts those of `digests` that the remote has into `into`; returns the digests that could not be
  // fetched.
  virtual absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests,
                                                    BlobStore& into,
                                                    const RemoteLimits& limits) = 0;
  // Returns the digests to send even if the remote claims to have them: their bytes came from the
  // remote and were wrong, or so many blobs were wrong that the remote is trusted only for blobs
  // that this cook has sent.
  virtual std::vector<Digest> Doubted(std::span<const Digest> digests) = 0;
  // Sends blobs, even blobs that the remote has: call FindMissing first. An error: not all blobs
  // were taken.
  virtual absl::Status Send(std::span<const Digest> digests, BlobStore& from,
                            const RemoteLimits& limits) = 0;
  // Returns the server's encoded ActionResults, without a look at the blobs that they name;
  // nullopt: none, or no answer.
  virtual std::vector<std::optional<std::string>> ActionResults(std::span<const Digest> keys,
                                                                const RemoteLimits& limits) = 0;
  // The last writer wins. PERMISSION_DENIED: the server lets us only read.
  virtual absl::Status UpdateActionResult(const Digest& key, std::string_view result,
                                          const RemoteLimits& limits) = 0;
  virtual RemoteState State() const = 0;
  // Cancels running calls; no later call gets an answer.
  virtual void Stop() = 0;
};

}  // namespace galley::store
