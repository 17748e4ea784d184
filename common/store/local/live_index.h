// LiveIndex: the index of a store that is open. When a call finds it damaged, that call moves it
// aside, makes another one from segments and files, and goes on with it.
//
// A call that met the damage waits for the new index, and is then answered by it. Calls that do not
// meet it go on with the old one, also those that are in the middle of reading it when it is
// replaced. A batch that was begun on the old one is written to the new one. Only one index is made
// at a time. What a call found wrong in an index that was made for it a moment ago is the machine's
// doing, and an error: no further one is made in this process.
//
// An index takes its place only when all segments are in it. While one is made, and after that
// failed, nothing may be removed because an index does not know it: whoever removes something takes
// a Coverage first, and asks before each step whether it still holds.
//
// Errors are the machine's, never DATA_LOSS: what could not be made says where the damaged index
// lies, and the next owner makes one.
// Threads: any; heal_mutex_, then write_mutex_, then mutex_. No lock of the store is taken, so a
// call may be made under any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/store/local/index.h"
#include "common/store/local/index_rebuild.h"

namespace galley::store {

// An index that has all segments, as it was when somebody began to find out what may be removed.
class Coverage {
 private:
  friend class LiveIndex;
  explicit Coverage(uint64_t generation) : generation_(generation) {}
  uint64_t generation_;
};

class LiveIndex final : public Index {
 public:
  LiveIndex(std::unique_ptr<StoredIndex> index, IndexRebuild::Deps deps)
      : deps_(std::move(deps)), current_(std::move(index)) {}

  // Reads all files of the index, and heals it where that is needed.
  absl::StatusOr<Coverage> Cover();
  // ABORTED: another index was made since, or is being made: find out again what may be removed.
  absl::Status StillCovers(const Coverage& coverage) const;

  std::unique_ptr<IndexBatch> NewBatch() override;
  using Index::Write;
  absl::Status Write(IndexBatch& batch) override;
  absl::Status Flush(bool wait) override;

  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Blobs(
      std::span<const Digest> digests) override;
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> Results(
      std::span<const Digest> action_keys) override;
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> ActionResults(
      std::span<const Digest> keys) override;
  absl::StatusOr<std::vector<std::vector<SetPlace>>> ObservationSets(
      std::span<const Digest> weak_keys) override;
  absl::StatusOr<std::vector<IndexedRoot>> Roots(std::string_view project_id) override;
  absl::StatusOr<std::map<uint64_t, SegmentState>> Segments() override;
  absl::StatusOr<std::optional<SegmentState>> Segment(uint64_t number) override;
  absl::StatusOr<bool> IsKnownDamage(const RecordPlace& place) override;
  uint64_t epoch() const override { return Current()->epoch(); }
  uint64_t disputed_epoch() const override { return Current()->disputed_epoch(); }
  IndexCounters counters() const override { return Current()->counters(); }

  // Where the index is replaced meanwhile, the new one is asked for the keys that were not visited
  // yet.
  absl::Status ForEachBlob(const std::function<absl::Status(const LocatedBlob&)>& visit) override {
    return ForEachBlob(KeyRange(), visit);
  }
  absl::Status ForEachResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachResult(KeyRange(), visit);
  }
  absl::Status ForEachActionResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachActionResult(KeyRange(), visit);
  }
  absl::Status ForEachObservationSet(
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) override {
    return ForEachObservationSet(KeyRange(), visit);
  }
  absl::Status ForEachRoot(const std::function<absl::Status(const IndexedRoot&)>& visit) override;
  absl::Status ForEachBlob(const KeyRange& range,
                           const std::function<absl::Status(const LocatedBlob&)>& visit) override;
  absl::Status ForEachResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override;
  absl::Status ForEachActionResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override;
  absl::Status ForEachObservationSet(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) override;

  absl::Status CheckFiles() override;

 private:
  class Batch;

  std::shared_ptr<StoredIndex> Current() const;
  // OK: `index` was damaged, and another one is current. Else the call ends with this error.
  // `healed` counts how often that was so in one call.
  absl::Status HealAfter(const std::shared_ptr<StoredIndex>& index, const absl::Status& error,
                         int& healed);
  absl::Status Heal(const std::shared_ptr<StoredIndex>& damaged);
  absl::Status Remake(StoredIndex& damaged) GALLEY_REQUIRES(heal_mutex_);
  absl::Status GiveUp(const absl::Status& damage);
  absl::Status WriteTo(const std::shared_ptr<StoredIndex>& index, Batch& batch)
      GALLEY_REQUIRES(write_mutex_);
  // Asks the current index, or the one that is made when that is found damaged.
  template <typename Question>
  std::invoke_result_t<Question, StoredIndex&> Ask(const Question& question);

  const IndexRebuild::Deps deps_;
  base::Mutex heal_mutex_;  // held while an index is made
  absl::Status given_up_ GALLEY_GUARDED_BY(heal_mutex_);
  std::string aside_ GALLEY_GUARDED_BY(heal_mutex_);  // where the last damaged one lies
  base::Mutex write_mutex_;  // held while a batch is written, or one index put in place of another
  mutable base::Mutex mutex_;
  std::shared_ptr<StoredIndex> current_ GALLEY_GUARDED_BY(mutex_);
  uint64_t generation_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_whole_ GALLEY_GUARDED_BY(mutex_) = true;  // false: another one is, or has to be, made
};

}  // namespace galley::store
