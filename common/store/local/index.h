// Index: where everything in a store lies, in RocksDB. It holds nothing that segments and files do
// not say, so it may be deleted.
//
// Writes go to memory and reach the disk in order, as wholes, when RocksDB flushes them; there is
// no log, since the segments are one: each batch also says up to where it indexed which segment,
// and an opener goes on from there.
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

// Part of the keys, in their order.
struct KeyRange {
  std::optional<Digest> after;  // none: from the first on
  size_t keys_max = SIZE_MAX;
};

struct IndexCounters {
  uint64_t blobs = 0, blob_bytes = 0, files = 0, file_bytes = 0, results = 0, observation_sets = 0,
           roots = 0;
};

// An index on the disk. An error of any call is DATA_LOSS when something is wrong with the index
// itself: damage() says so from then on, and another one has to be made. All other errors are the
// machine's. What cannot be read is never answered as absent.
class Index {
 public:
  // Called for one entry of a walk; an error ends the walk.
  template <typename Entry>
  using Visit = std::function<absl::Status(const Digest& key, const Entry& entry)>;

  // NOT_FOUND: there is none, or not this store's, or its making was cut off. DATA_LOSS: it is
  // damaged. In both cases it is to be made anew.
  static absl::StatusOr<std::unique_ptr<Index>> Open(const std::string& path,
                                                     std::string_view store_id);
  // Makes an empty index in place of whatever is there. Until it is finished nobody can Open it.
  static absl::StatusOr<std::unique_ptr<Index>> Create(const std::string& path);
  ~Index();

  // Says that it holds all that there is, and that it is this store's from now on. Then it is on
  // the disk.
  absl::Status Finish(std::string_view store_id);
  // Its folder has another name now; it goes on all the same.
  void SetPath(const std::string& path);
  // OK, or the first damage that a call met.
  absl::Status damage() const;

  // Makes the changes of the batch, all or none. An empty one writes nothing.
  absl::Status Write(const IndexBatch& batch);
  // Everything written so far reaches the disk.
  absl::Status Flush(bool wait);

  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Blobs(std::span<const Digest> digests);
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> Results(
      std::span<const Digest> action_keys);
  // By ActionResultKey.
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> ActionResults(
      std::span<const Digest> keys);
  absl::StatusOr<std::vector<std::vector<SetPlace>>> ObservationSets(
      std::span<const Digest> weak_keys);
  // Newest first.
  absl::StatusOr<std::vector<IndexedRoot>> Roots(std::string_view project_id);
  // By project, platform and sequence.
  absl::StatusOr<std::vector<IndexedRoot>> AllRoots();
  absl::StatusOr<std::map<uint64_t, SegmentState>> Segments();
  absl::StatusOr<std::optional<SegmentState>> Segment(uint64_t number);
  absl::StatusOr<bool> IsKnownDamage(const RecordPlace& place);
  uint64_t epoch() const;
  // StoreInfo::disputed_epoch. An index that an older program made does not know it, and says that
  // it is the present one until that rises.
  uint64_t disputed_epoch() const;
  IndexCounters counters() const;

  // Visit the entries of a range as they were when the call began, by key.
  absl::Status ForEachBlob(const KeyRange& range, const Visit<BlobLocation>& visit);
  absl::Status ForEachResult(const KeyRange& range, const Visit<ResultPlace>& visit);
  absl::Status ForEachActionResult(const KeyRange& range, const Visit<ResultPlace>& visit);
  absl::Status ForEachObservationSet(const KeyRange& range, const Visit<SetPlace>& visit);

  // Reads all of its files.
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
  std::optional<uint64_t> disputed_epoch_ GALLEY_GUARDED_BY(mutex_);  // nullopt: not known
};

}  // namespace galley::store
