// Index: where everything in a store lies, in RocksDB. It holds nothing that segments and files do
// not say, so it may be deleted.
//
// Writes go to memory and reach the disk in order, as wholes, when RocksDB flushes them; there is
// no log, since the segments are one: each batch also says up to where it indexed which segment,
// and an opener goes on from there.
// Threads: reads from any; batches are made and written by one thread at a time (LocalStore's
// commit lock).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

// Where a record of the owner's begins.
struct RecordPlace {
  uint64_t segment = 0;
  uint64_t offset = 0;
  auto operator<=>(const RecordPlace&) const = default;
};

inline uint32_t HoursOf(absl::Time time) {
  return static_cast<uint32_t>(std::max<int64_t>(0, absl::ToUnixSeconds(time) / 3600));
}

struct ResultPlace : RecordPlace {
  uint32_t used_hours = 0;  // when it was last asked for, since 1970; 0: never
};

struct SetPlace {
  RecordPlace place;
  uint64_t checksum = 0;  // of the set's bytes: tells equal sets
  auto operator<=>(const SetPlace&) const = default;
};

using LocatedResult = std::pair<Digest, RecordPlace>;  // by its action key
using LocatedSet = std::pair<Digest, SetPlace>;        // by its weak key

struct SegmentState {
  SegmentWriterKind writer = SegmentWriterKind::kOwner;
  bool is_abandoned = false;  // its end is torn: nothing is appended any more
  bool is_cut = false;  // once it was longer: what is said to lie behind indexed_bytes is gone
  // The owner's segment: all that it says is said again in later ones, so whoever opens the store
  // removes it.
  bool is_dropped = false;
  // Owner: all before this is in the index. Worker: the end of what was adopted.
  uint64_t indexed_bytes = 0;
  bool operator==(const SegmentState&) const = default;
};

struct IndexedRoot {
  PublishedRoot root;
  RecordPlace place;
};

// Part of the keys, in their order.
struct KeyRange {
  std::optional<Digest> after;  // none: from the first on
  size_t keys_max = SIZE_MAX;
};

struct IndexCounters {
  uint64_t blobs = 0, blob_bytes = 0, files = 0, file_bytes = 0, results = 0, observation_sets = 0,
           roots = 0;
};

// Changes that are written together. Each function sees those before it.
class IndexBatch {
 public:
  virtual ~IndexBatch() = default;
  virtual absl::Status SetBlob(const Digest& digest, const BlobLocation& location) = 0;
  // The same for many, each once: what is there is asked for together.
  virtual absl::Status SetBlobs(std::span<const LocatedBlob> blobs) = 0;
  virtual absl::Status RemoveBlob(const Digest& digest) = 0;
  // A key may be named again, of results and of sets: the later one stands, or comes first.
  virtual absl::Status SetResults(std::span<const LocatedResult> results) = 0;
  virtual absl::Status RemoveResult(const Digest& action_key) = 0;
  virtual absl::Status SetActionResult(const Digest& key, const RecordPlace& place) = 0;
  virtual absl::Status RemoveActionResult(const Digest& key) = 0;
  // A result that is there was used; `hours` since 1970. What is absent stays so.
  virtual absl::Status StampResult(const Digest& action_key, uint32_t hours) = 0;
  virtual absl::Status StampActionResult(const Digest& key, uint32_t hours) = 0;
  // Puts each set first; one with the same checksum is replaced, the oldest above
  // ActionCache::kSetsMax goes.
  virtual absl::Status AddObservationSets(std::span<const LocatedSet> sets) = 0;
  virtual absl::Status RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) = 0;
  // A set that is there lies elsewhere now.
  virtual absl::Status MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                          const RecordPlace& to) = 0;
  virtual absl::Status SetRoot(const PublishedRoot& root, const RecordPlace& place) = 0;
  virtual absl::Status SetSegment(uint64_t number, const SegmentState& state) = 0;
  virtual absl::Status RemoveSegment(uint64_t number) = 0;
  // It never falls: a lower one changes nothing.
  virtual absl::Status SetEpoch(uint64_t epoch) = 0;
  // The epoch that SetEpoch was called with.
  virtual std::optional<uint64_t> epoch() const = 0;
  // A result is in dispute from this batch on, or may be. It raises the epoch, too.
  virtual void SetDisputed() = 0;
  virtual absl::Status NoteDamage(
      const RecordPlace& place) = 0;  // known damage of a segment: reported once
  virtual size_t size() const = 0;    // changes so far
};

class Index {
 public:
  virtual ~Index() = default;

  virtual std::unique_ptr<IndexBatch> NewBatch() = 0;
  // REQUIRES: the batch is this index's.
  virtual absl::Status Write(IndexBatch& batch) = 0;
  absl::Status Write(std::unique_ptr<IndexBatch> batch) { return Write(*batch); }
  // Everything written so far reaches the disk.
  virtual absl::Status Flush(bool wait) = 0;

  virtual absl::StatusOr<std::vector<std::optional<BlobLocation>>> Blobs(
      std::span<const Digest> digests) = 0;
  virtual absl::StatusOr<std::vector<std::optional<ResultPlace>>> Results(
      std::span<const Digest> action_keys) = 0;
  // By ActionResultKey.
  virtual absl::StatusOr<std::vector<std::optional<ResultPlace>>> ActionResults(
      std::span<const Digest> keys) = 0;
  virtual absl::StatusOr<std::vector<std::vector<SetPlace>>> ObservationSets(
      std::span<const Digest> weak_keys) = 0;
  // Newest first.
  virtual absl::StatusOr<std::vector<IndexedRoot>> Roots(std::string_view project_id) = 0;
  virtual absl::StatusOr<std::map<uint64_t, SegmentState>> Segments() = 0;
  virtual absl::StatusOr<std::optional<SegmentState>> Segment(uint64_t number) = 0;
  virtual absl::StatusOr<bool> IsKnownDamage(const RecordPlace& place) = 0;
  virtual uint64_t epoch() const = 0;
  // StoreInfo::disputed_epoch. An index that an older program made does not know it, and says that
  // it is the present one until that rises.
  virtual uint64_t disputed_epoch() const = 0;
  virtual IndexCounters counters() const = 0;

  // Visit the entries as they were when the call began, by key. An error of `visit` ends it.
  virtual absl::Status ForEachBlob(
      const std::function<absl::Status(const LocatedBlob&)>& visit) = 0;
  virtual absl::Status ForEachResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) = 0;
  virtual absl::Status ForEachActionResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) = 0;
  virtual absl::Status ForEachObservationSet(
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) = 0;
  virtual absl::Status ForEachRoot(
      const std::function<absl::Status(const IndexedRoot&)>& visit) = 0;
  // Visit the entries of one range of keys: nothing is held between one call and the next.
  virtual absl::Status ForEachBlob(
      const KeyRange& range, const std::function<absl::Status(const LocatedBlob&)>& visit) = 0;
  virtual absl::Status ForEachResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) = 0;
  virtual absl::Status ForEachActionResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) = 0;
  virtual absl::Status ForEachObservationSet(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) = 0;

  // Reads all of its files.
  virtual absl::Status CheckFiles() = 0;
};

// One index on the disk. An error of any call, also of one of its batches, is DATA_LOSS when
// something is wrong with the index itself: damage() says so from then on, and another one has to
// be made. All other errors are the machine's. What cannot be read is never answered as absent.
class StoredIndex : public Index {
 public:
  // NOT_FOUND: there is none, or not this store's, or its making was cut off. DATA_LOSS: it is
  // damaged. In both cases it is to be made anew.
  static absl::StatusOr<std::unique_ptr<StoredIndex>> Open(const std::string& path,
                                                           std::string_view store_id);
  // Makes an empty index in place of whatever is there. Until it is finished nobody can Open it.
  static absl::StatusOr<std::unique_ptr<StoredIndex>> Create(const std::string& path);

  // Says that it holds all that there is, and that it is this store's from now on. Then it is on
  // the disk.
  virtual absl::Status Finish(std::string_view store_id) = 0;
  // Its folder has another name now; it goes on all the same.
  virtual void SetPath(const std::string& path) = 0;
  // OK, or the first damage that a call met.
  virtual absl::Status damage() const = 0;
  // The changes of a batch of another index that holds the same, as a batch of this one; also after
  // the other one could not be written.
  virtual absl::StatusOr<std::unique_ptr<IndexBatch>> Rebase(const IndexBatch& batch) = 0;
};

}  // namespace galley::store
