// The records of a segment that are live: that the index knows to lie there.
//
// Errors: those of the index and of the disk.
// Threads: any; takes no lock. What is asked of the index may be different a moment later, unless
// the caller holds the writer's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/local/index.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/store_state.h"

namespace galley::store {

struct LiveRecord {
  uint64_t offset = 0;
  RecordKind kind{};
  Digest key;
  uint64_t span = 0;
  uint64_t written_s = 0;
  std::vector<LocatedBlob> adopted;
  uint32_t used_hours = 0;  // of results
};

// Dropped: the blobs and records that a collection is about to drop.
struct Dropped {
  absl::flat_hash_set<Digest> blobs;
  std::set<RecordPlace> records;  // of results and observation sets
};

// Returns the live records of a whole segment, with `dropped` taken for dead.
absl::StatusOr<std::vector<LiveRecord>> LiveOf(StoreState& store, uint64_t segment,
                                               const Dropped& dropped);
// About how many bytes of a segment are live: one record of sixteen is asked for. nullopt: it has
// too few to tell.
absl::StatusOr<std::optional<uint64_t>> EstimateLiveBytes(StoreState& store, uint64_t segment,
                                                          const Dropped& dropped);
// Returns the live ones of `records`, which lie in this order in the segment. A blob that an
// adopted record names is left out where the index says otherwise.
absl::StatusOr<std::vector<LiveRecord>> StillLive(StoreState& store, uint64_t segment,
                                                  std::vector<LiveRecord> records,
                                                  const Dropped& dropped);

}  // namespace galley::store
