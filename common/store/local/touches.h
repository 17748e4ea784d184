// Touches: the digests that anybody was told are present, with times. A collection keeps everything
// that was told since the oldest live session began.
//
// A digest is kept as eight bytes of its hash: another digest with the same bytes may stay longer
// than it must.
// Memory: some 10 bytes for each digest that is told within kTimeSpan.
// Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"

namespace galley::store {

class Touches {
 public:
  // The touches of one time span are dropped together.
  static constexpr absl::Duration kTimeSpan = absl::Minutes(10);

  // Times are of BootTime (sessions.h), and do not go back.
  explicit Touches(absl::Time now) : begun_(now) {}

  void Add(const Digest& digest, absl::Time now);
  // True: the digest was told at `since` or later, or up to kTimeSpan before.
  bool Have(const Digest& digest, absl::Time since) const;
  void DropBefore(absl::Time since);
  // Touches before this time are unknown: an earlier owner had them.
  absl::Time begun() const { return begun_; }
  size_t size() const;

 private:
  struct Span {
    absl::Time begin, end;
    absl::flat_hash_set<uint64_t> told;
  };
  struct Shard {
    mutable base::Mutex mutex;
    std::vector<Span> spans GALLEY_GUARDED_BY(mutex);  // oldest first
  };
  static constexpr size_t kShards = 16;
  static uint64_t FingerprintOf(const Digest& digest);

  const absl::Time begun_;
  std::array<Shard, kShards> shards_;
};

}  // namespace galley::store
