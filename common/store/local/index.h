// Index: the locations of everything in a store, in RocksDB. The index can be made again from
// segments and files, so it may be deleted.
//
// Writes go to memory, and reach the disk in order, each whole, when RocksDB flushes. RocksDB has
// no log, since the segments are a log: each batch says up to where each segment is indexed, and an
// opener goes on from there.
// Threads: reads from any; batches are written by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "common/store/local/index_batch.h"

namespace galley::store {

class IndexDatabase;

struct IndexedRoot {
  PublishedRoot root;
  RecordPlace place;
};

// KeyRange: a part of the keys, in their order.
struct KeyRange {
  std::optional<Digest> after;  // nullopt: from the first key on
  size_t keys_max = SIZE_MAX;
};

struct IndexCounters {
  uint64_t blobs = 0, blob_bytes = 0, files = 0, file_bytes = 0, results = 0, observation_sets = 0,
           roots = 0;
};

// Errors of all calls: DATA_LOSS: the index itself is damaged; damage() says so from then on, and
// another index has to be made. All other errors are the machine's. An unreadable entry is never
// reported as absent.
class Index {
 public:
  // Called for one entry of a walk; an error ends the walk.
  template <typename Entry>
  using Visit = std::function<absl::Status(const Digest& key, const Entry& entry)>;

  // NOT_FOUND: there is no index, or it is another store's or unfinished. DATA_LOSS: damaged. In
  // both cases make a new index.
  static absl::StatusOr<std::unique_ptr<Index>> Open(const std::string& path,
                                                     std::string_view store_id);
  // Makes an empty index in place of any file or folder at `path`. Open returns NOT_FOUND until
  // Finish.
  static absl::StatusOr<std::unique_ptr<Index>> Create(const std::string& path);
  ~Index();

  // Marks the index as complete and as this store's, and flushes it to the disk.
  absl::Status Finish(std::string_view store_id);
  // Notes that the folder was renamed, which does not disturb the index.
  void SetPath(const std::string& path);
  // Returns OK, or the first damage that a call met.
  absl::Status damage() const;

  // Makes the changes of the batch, all or none. An empty batch writes nothing.
  absl::Status Write(const IndexBatch& batch);
  // Flushes all writes to the disk; `wait`: returns after that.
  absl::Status Flush(bool wait);

  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Blobs(std::span<const Digest> digests);
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> Results(
      std::span<const Digest> action_keys);
  // `keys`: of ActionResultKey.
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> ActionResults(
      std::span<const Digest> keys);
  absl::StatusOr<std::vector<std::vector<SetPlace>>> ObservationSets(
      std::span<const Digest> weak_keys);
  // Returns the roots of a project, newest first.
  absl::StatusOr<std::vector<IndexedRoot>> Roots(std::string_view project_id);
  // Returns the roots of all projects, by project, platform and sequence.
  absl::StatusOr<std::vector<IndexedRoot>> AllRoots();
  absl::StatusOr<std::map<uint64_t, SegmentState>> Segments();
  absl::StatusOr<std::optional<SegmentState>> Segment(uint64_t number);
  absl::StatusOr<bool> IsKnownDamage(const RecordPlace& place);
  uint64_t epoch() const;
  // See StoreInfo::disputed_epoch. An index of an older program does not know the number: then this
  // is the present epoch, until that rises.
  uint64_t disputed_epoch() const;
  IndexCounters counters() const;

  // Visit the entries of a range in the order of keys, as they were when the call began.
  absl::Status ForEachBlob(const KeyRange& range, const Visit<BlobLocation>& visit);
  absl::Status ForEachResult(const KeyRange& range, const Visit<ResultPlace>& visit);
  absl::Status ForEachActionResult(const KeyRange& range, const Visit<ResultPlace>& visit);
  absl::Status ForEachObservationSet(const KeyRange& range, const Visit<SetPlace>& visit);

  // Reads all files of the index.
  absl::Status CheckFiles();

 private:
  explicit Index(std::unique_ptr<IndexDatabase> database);

  absl::Status Load(std::string_view store_id);
  absl::Status WriteWithMeta(const IndexBatch& batch);
  std::optional<uint64_t> DisputedAfter(const IndexBatch& batch, uint64_t before,
                                        uint64_t after) const;

  const std::unique_ptr<IndexDatabase> database_;
  mutable base::Mutex mutex_;
  IndexCounters counters_ GALLEY_GUARDED_BY(mutex_);
  uint64_t epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> disputed_epoch_ GALLEY_GUARDED_BY(mutex_);  // nullopt: unknown
};

}  // namespace galley::store
