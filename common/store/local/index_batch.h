// IndexBatch: changes of an index that are written together (Index::Write). It is plain data, so
// it can be written again to another index when the first one is found damaged.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

// RecordPlace: the place where a record in the owner's segments begins.
struct RecordPlace {
  uint64_t segment = 0;
  uint64_t offset = 0;
  auto operator<=>(const RecordPlace&) const = default;
};

inline uint32_t HoursOf(absl::Time time) {
  return static_cast<uint32_t>(std::max<int64_t>(0, absl::ToUnixSeconds(time) / 3600));
}

struct ResultPlace : RecordPlace {
  uint32_t used_hours = 0;  // time of the last use, in hours since 1970; 0: never
};

struct SetPlace {
  RecordPlace place;
  uint64_t checksum = 0;  // of the set's bytes: equal for equal sets
  auto operator<=>(const SetPlace&) const = default;
};

struct SegmentState {
  SegmentWriterKind writer = SegmentWriterKind::kOwner;
  bool is_abandoned = false;  // the end is torn: nothing more is appended
  bool is_cut = false;        // the segment was longer once: blobs after indexed_bytes are gone
  // Owner's segment: later segments repeat all its live records, so an opener of the store removes
  // it.
  bool is_dropped = false;
  // Owner's segment: the end of the indexed part. Worker's: the end of the adopted part.
  uint64_t indexed_bytes = 0;
  bool operator==(const SegmentState&) const = default;
};

// IndexChange: a change of the value under one key. A change sees the effect of earlier changes.
struct IndexChange {
  struct Remove {};
  // Sets the use time of a result, in hours since 1970. An absent result stays absent.
  struct Stamp {
    uint32_t hours;
  };
  // The changes of a list of observation sets.
  struct AddSet {
    SetPlace set;
  };
  struct RemoveSet {
    RecordPlace place;
  };
  struct MoveSet {
    RecordPlace from, to;
  };

  std::string key;                                                            // index_values.h
  std::variant<std::string, Remove, Stamp, AddSet, RemoveSet, MoveSet> edit;  // string: the value
};

class IndexBatch {
 public:
  void SetBlob(const Digest& digest, const BlobLocation& location);
  void SetBlobs(std::span<const LocatedBlob> blobs);
  void RemoveBlob(const Digest& digest);
  void SetResult(const Digest& action_key, const RecordPlace& place);
  void RemoveResult(const Digest& action_key);
  void SetActionResult(const Digest& key, const RecordPlace& place);
  void RemoveActionResult(const Digest& key);
  // Sets the use time of a result, in hours since 1970. An absent result stays absent.
  void StampResult(const Digest& action_key, uint32_t hours);
  void StampActionResult(const Digest& key, uint32_t hours);
  // Puts the set first. Replaces a set with the same checksum, and drops the oldest above
  // ActionCache::kSetsMax.
  void AddObservationSet(const Digest& weak_key, const SetPlace& set);
  void RemoveObservationSet(const Digest& weak_key, const RecordPlace& place);
  // Changes the place of a set; an absent set stays absent.
  void MoveObservationSet(const Digest& weak_key, const RecordPlace& from, const RecordPlace& to);
  void SetRoot(const PublishedRoot& root, const RecordPlace& place);
  void SetSegment(uint64_t number, const SegmentState& state);
  void RemoveSegment(uint64_t number);
  // Notes damage of a segment that was reported, so that it is not reported again.
  void NoteDamage(const RecordPlace& place);

  // The epoch never falls: a lower epoch changes nothing.
  void SetEpoch(uint64_t epoch) { epoch_ = std::max(epoch_.value_or(0), epoch); }
  // Returns the highest epoch given to SetEpoch.
  std::optional<uint64_t> epoch() const { return epoch_; }
  // Says that a result is, or may be, in dispute from this batch on. Raises the epoch, too.
  void SetDisputed() { is_disputing_ = true; }
  bool is_disputing() const { return is_disputing_; }

  std::span<const IndexChange> changes() const { return changes_; }
  size_t size() const { return changes_.size(); }
  bool is_empty() const { return changes_.empty() && !epoch_.has_value() && !is_disputing_; }

 private:
  std::vector<IndexChange> changes_;
  std::optional<uint64_t> epoch_;
  bool is_disputing_ = false;
};

}  // namespace galley::store
