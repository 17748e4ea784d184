// FaultyBlobStore: does to its callers what networks, disks and remote stores do, from a seed. For
// tests and simulations.
//
// Two with one seed, asked the same, do the same.
// Threads: any (then the order of calls decides).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/store/interface/store.h"

namespace galley::store {

enum class BlobFault {
  kUnavailable,  // the call fails, nothing was done
  kLostReply,    // the call fails, and what it asked for was done
  kHang,         // nothing for `hang_time`, then DEADLINE_EXCEEDED
  kDelay,        // `delay`, then as asked
  kNotFound,     // Get: evicted. FindMissing: something is missing that is there
  kFlippedByte,  // Get only
  kShort,        // Get only: the end is missing
  kSaysPresent,  // FindMissing: nothing is missing
};

struct FaultyOptions {
  uint64_t seed = 1;
  std::map<BlobFault, double> odds;  // of each call to which the fault applies
  absl::Duration delay = absl::Milliseconds(10);
  absl::Duration hang_time = absl::Seconds(10);
  std::function<void(absl::Duration)> pause;  // empty: no time passes
};

class FaultyBlobStore final : public BlobStore {
 public:
  FaultyBlobStore(std::shared_ptr<BlobStore> behind, FaultyOptions options);

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override;
  absl::StatusOr<Blob> Get(const Digest& digest) override;
  absl::Status Put(const Digest& digest, std::string_view bytes) override;

  // How often each was done.
  std::map<BlobFault, uint64_t> Done() const;

 private:
  bool Happens(BlobFault fault);
  uint64_t Choose(uint64_t count);
  absl::Status BeforeCall();
  absl::Status AfterCall();
  void Pause(absl::Duration time) const;

  const std::shared_ptr<BlobStore> behind_;
  const FaultyOptions options_;
  mutable base::Mutex mutex_;
  std::mt19937_64 random_ GALLEY_GUARDED_BY(mutex_);
  std::map<BlobFault, uint64_t> done_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
