// Live records of a segment: the records that the index locates there.
//
// Errors: those of the index and of the disk.
// Threads: any; takes no lock. The index may change a moment later, unless the caller holds the
// writer's lock.
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
  uint32_t used_hours = 0;  // for results
};

// Dropped: the blobs and records that a collection is about to drop.
struct Dropped {
  absl::flat_hash_set<Digest> blobs;
  std::set<RecordPlace> records;  // places of results and observation sets
};

// Returns the live records of a whole segment, with `dropped` taken for dead.
absl::StatusOr<std::vector<LiveRecord>> LiveOf(StoreState& store, uint64_t segment,
                                               const Dropped& dropped);
// Estimates the live bytes of a segment from one record of sixteen. nullopt: too few records.
absl::StatusOr<std::optional<uint64_t>> EstimateLiveBytes(StoreState& store, uint64_t segment,
                                                          const Dropped& dropped);
// Returns those of `records` that are live; they lie in this order in the segment. Leaves out a
// blob of an adopted record if the index locates it elsewhere.
absl::StatusOr<std::vector<LiveRecord>> StillLive(StoreState& store, uint64_t segment,
                                                  std::vector<LiveRecord> records,
                                                  const Dropped& dropped);

}  // namespace galley::store
