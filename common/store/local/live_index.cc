#include "common/store/local/live_index.h"

#include <algorithm>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

// The heals in one call. An index that is damaged again after that is not damaged by chance.
constexpr int kHealsMax = 1;

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& answer) {
  return answer.status();
}

// A walk over keys that goes on in another index where it was.
class Walk {
 public:
  explicit Walk(const KeyRange& range) : left_(range) {}

  // The keys that are not visited yet.
  KeyRange left() const { return left_; }
  // `status` is what was said of an entry with this key.
  absl::Status Visited(const Digest& key, absl::Status status) {
    if (left_.after != key) {
      left_.after = key;
      --left_.keys_max;
    }
    stopped_ = status;
    return status;
  }
  // An error of the visitor is none of the index.
  absl::Status OfIndex(const absl::Status& status) const {
    return stopped_.ok() ? status : absl::OkStatus();
  }
  absl::Status End(const absl::Status& status) const { return stopped_.ok() ? status : stopped_; }

 private:
  KeyRange left_;
  absl::Status stopped_;
};

}  // namespace

// A batch that is moved to another index when the one that it was begun on is damaged.
class LiveIndex::Batch final : public IndexBatch {
 public:
  explicit Batch(LiveIndex& live)
      : live_(live), index_(live.Current()), batch_(index_->NewBatch()) {}

  absl::Status SetBlob(const Digest& digest, const BlobLocation& location) override {
    return Add([&](IndexBatch& batch) { return batch.SetBlob(digest, location); });
  }
  absl::Status SetBlobs(std::span<const LocatedBlob> blobs) override {
    return Add([&](IndexBatch& batch) { return batch.SetBlobs(blobs); });
  }
  absl::Status RemoveBlob(const Digest& digest) override {
    return Add([&](IndexBatch& batch) { return batch.RemoveBlob(digest); });
  }
  absl::Status SetResults(std::span<const LocatedResult> results) override {
    return Add([&](IndexBatch& batch) { return batch.SetResults(results); });
  }
  absl::Status RemoveResult(const Digest& action_key) override {
    return Add([&](IndexBatch& batch) { return batch.RemoveResult(action_key); });
  }
  absl::Status SetActionResult(const Digest& key, const RecordPlace& place) override {
    return Add([&](IndexBatch& batch) { return batch.SetActionResult(key, place); });
  }
  absl::Status RemoveActionResult(const Digest& key) override {
    return Add([&](IndexBatch& batch) { return batch.RemoveActionResult(key); });
  }
  absl::Status StampResult(const Digest& action_key, uint32_t hours) override {
    return Add([&](IndexBatch& batch) { return batch.StampResult(action_key, hours); });
  }
  absl::Status StampActionResult(const Digest& key, uint32_t hours) override {
    return Add([&](IndexBatch& batch) { return batch.StampActionResult(key, hours); });
  }
  absl::Status AddObservationSets(std::span<const LocatedSet> sets) override {
    return Add([&](IndexBatch& batch) { return batch.AddObservationSets(sets); });
  }
  absl::Status RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) override {
    return Add([&](IndexBatch& batch) { return batch.RemoveObservationSet(weak_key, place); });
  }
  absl::Status MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                  const RecordPlace& to) override {
    return Add([&](IndexBatch& batch) { return batch.MoveObservationSet(weak_key, from, to); });
  }
  absl::Status SetRoot(const PublishedRoot& root, const RecordPlace& place) override {
    return Add([&](IndexBatch& batch) { return batch.SetRoot(root, place); });
  }
  absl::Status SetSegment(uint64_t number, const SegmentState& state) override {
    return Add([&](IndexBatch& batch) { return batch.SetSegment(number, state); });
  }
  absl::Status RemoveSegment(uint64_t number) override {
    return Add([&](IndexBatch& batch) { return batch.RemoveSegment(number); });
  }
  absl::Status SetEpoch(uint64_t epoch) override { return batch_->SetEpoch(epoch); }
  std::optional<uint64_t> epoch() const override { return batch_->epoch(); }
  void SetDisputed() override { batch_->SetDisputed(); }
  absl::Status NoteDamage(const RecordPlace& place) override {
    return Add([&](IndexBatch& batch) { return batch.NoteDamage(place); });
  }
  size_t size() const override { return batch_->size(); }

  absl::Status MoveTo(const std::shared_ptr<StoredIndex>& index) {
    if (index == index_) return absl::OkStatus();
    ASSIGN_OR_RETURN(batch_, index->Rebase(*batch_));
    index_ = index;
    return absl::OkStatus();
  }
  IndexBatch& of_index() { return *batch_; }

 private:
  // A change is made as a whole, or can be made again.
  template <typename Change>
  absl::Status Add(const Change& change) {
    std::shared_ptr<StoredIndex> index = index_;
    for (int healed = 0;;) {
      absl::Status status = MoveTo(index);
      if (status.ok()) status = change(*batch_);
      if (status.ok()) return status;
      RETURN_IF_ERROR(live_.HealAfter(index, status, healed));
      index = live_.Current();
    }
  }

  LiveIndex& live_;
  std::shared_ptr<StoredIndex> index_;
  std::unique_ptr<IndexBatch> batch_;
};

std::shared_ptr<StoredIndex> LiveIndex::Current() const {
  const base::MutexLock lock(mutex_);
  return current_;
}

absl::StatusOr<Coverage> LiveIndex::Cover() {
  RETURN_IF_ERROR(CheckFiles());
  const base::MutexLock heal_lock(heal_mutex_);
  const base::MutexLock lock(mutex_);
  if (is_whole_) return Coverage(generation_);
  return absl::FailedPreconditionError(fmt::format(
      "{}: it is damaged, and another one could not be made. Until it is made nothing is removed",
      IndexPath(deps_.directory)));
}

absl::Status LiveIndex::StillCovers(const Coverage& coverage) const {
  const base::MutexLock lock(mutex_);
  if (is_whole_ && generation_ == coverage.generation_) return absl::OkStatus();
  return absl::AbortedError(
      fmt::format("{}: it was made again meanwhile: nothing more is removed until it is found out "
                  "again what is needed",
                  IndexPath(deps_.directory)));
}

absl::Status LiveIndex::HealAfter(const std::shared_ptr<StoredIndex>& index,
                                  const absl::Status& error, int& healed) {
  const absl::Status damage = index->damage();
  if (damage.ok()) return error;
  if (healed++ == kHealsMax) return GiveUp(damage);
  return Heal(index);
}

absl::Status LiveIndex::GiveUp(const absl::Status& damage) {
  const base::MutexLock lock(heal_mutex_);
  given_up_ = absl::InternalError(
      fmt::format("{}: it was made again a moment ago, and is damaged again: {}. See to the disk "
                  "and the memory of this machine",
                  IndexPath(deps_.directory), MessageOf(damage)));
  return given_up_;
}

absl::Status LiveIndex::Heal(const std::shared_ptr<StoredIndex>& damaged) {
  const base::MutexLock heal_lock(heal_mutex_);
  if (Current() != damaged) return absl::OkStatus();  // somebody else met it, too
  RETURN_IF_ERROR(given_up_);
  {
    const base::MutexLock lock(mutex_);
    is_whole_ = false;
  }
  absl::Status remade = Remake(*damaged);
  // The one that was moved aside now is still read.
  if (absl::IsResourceExhausted(remade) && RemoveUnusedIndexes(deps_.directory, aside_))
    remade = Remake(*damaged);
  if (remade.ok()) return remade;
  // The unfinished index is of no use, and the disk may be full.
  (void)RemoveAll(NewIndexPath(deps_.directory));
  const std::string where = aside_.empty() ? "" : fmt::format("it is {} now, and ", aside_);
  const std::string text = fmt::format(
      "{}: {}; {}another one could not be made: {}. Nothing is lost: it is made by the next "
      "command "
      "that can",
      IndexPath(deps_.directory), MessageOf(damaged->damage()), where, MessageOf(remade));
  // Never NOT_FOUND, which whoever asked for a blob takes for its absence.
  const bool is_told = absl::IsResourceExhausted(remade) || absl::IsPermissionDenied(remade);
  return absl::Status(is_told ? remade.code() : absl::StatusCode::kInternal, text);
}

absl::Status LiveIndex::Remake(StoredIndex& damaged) {
  // The damaged index is moved aside first of all: so nobody takes it for whole, wherever this is
  // cut off.
  const absl::StatusOr<std::string> aside = MoveIndexAside(deps_.directory);
  if (aside.ok()) {
    aside_ = *aside;
    damaged.SetPath(aside_);
  } else if (!absl::IsNotFound(aside.status())) {  // gone: an earlier attempt moved it
    return aside.status();
  }
  IndexRebuild rebuild(deps_);
  rebuild.remaking().set_aside(aside_);
  RETURN_IF_ERROR(rebuild.Read());
  {
    const base::MutexLock write_lock(write_mutex_);
    ASSIGN_OR_RETURN(std::shared_ptr<StoredIndex> made, rebuild.Finish(damaged.epoch() + 1));
    const base::MutexLock lock(mutex_);
    current_ = std::move(made);
    ++generation_;
    is_whole_ = true;
  }
  rebuild.remaking().Tell(damaged.damage());
  return absl::OkStatus();
}

template <typename Question>
std::invoke_result_t<Question, StoredIndex&> LiveIndex::Ask(const Question& question) {
  for (int healed = 0;;) {
    const std::shared_ptr<StoredIndex> index = Current();
    auto answer = question(*index);
    if (answer.ok()) return answer;
    RETURN_IF_ERROR(HealAfter(index, StatusOf(answer), healed));
  }
}

std::unique_ptr<IndexBatch> LiveIndex::NewBatch() { return std::make_unique<Batch>(*this); }

absl::Status LiveIndex::Write(IndexBatch& batch) {
  for (int healed = 0;;) {
    std::shared_ptr<StoredIndex> index;
    absl::Status status;
    {
      const base::MutexLock lock(write_mutex_);
      index = Current();
      status = WriteTo(index, static_cast<Batch&>(batch));
    }
    if (status.ok()) return status;
    RETURN_IF_ERROR(HealAfter(index, status, healed));
  }
}

absl::Status LiveIndex::WriteTo(const std::shared_ptr<StoredIndex>& index, Batch& batch) {
  RETURN_IF_ERROR(batch.MoveTo(index));
  const uint64_t epoch = index->epoch();
  if (batch.epoch().value_or(epoch + 1) <= epoch) {
    // An index that was made meanwhile took this number: somebody may have been told it already,
    // who has to notice what is lost by this batch, too.
    RETURN_IF_ERROR(WriteEpoch(deps_.directory, epoch + 1));
    RETURN_IF_ERROR(batch.SetEpoch(epoch + 1));
  }
  return index->Write(batch.of_index());
}

absl::Status LiveIndex::Flush(bool wait) {
  return Ask([&](StoredIndex& index) { return index.Flush(wait); });
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> LiveIndex::Blobs(
    std::span<const Digest> digests) {
  return Ask([&](StoredIndex& index) { return index.Blobs(digests); });
}

absl::StatusOr<std::vector<std::optional<ResultPlace>>> LiveIndex::Results(
    std::span<const Digest> action_keys) {
  return Ask([&](StoredIndex& index) { return index.Results(action_keys); });
}

absl::StatusOr<std::vector<std::optional<ResultPlace>>> LiveIndex::ActionResults(
    std::span<const Digest> keys) {
  return Ask([&](StoredIndex& index) { return index.ActionResults(keys); });
}

absl::StatusOr<std::vector<std::vector<SetPlace>>> LiveIndex::ObservationSets(
    std::span<const Digest> weak_keys) {
  return Ask([&](StoredIndex& index) { return index.ObservationSets(weak_keys); });
}

absl::StatusOr<std::vector<IndexedRoot>> LiveIndex::Roots(std::string_view project_id) {
  return Ask([&](StoredIndex& index) { return index.Roots(project_id); });
}

absl::StatusOr<std::map<uint64_t, SegmentState>> LiveIndex::Segments() {
  return Ask([](StoredIndex& index) { return index.Segments(); });
}

absl::StatusOr<std::optional<SegmentState>> LiveIndex::Segment(uint64_t number) {
  return Ask([&](StoredIndex& index) { return index.Segment(number); });
}

absl::StatusOr<bool> LiveIndex::IsKnownDamage(const RecordPlace& place) {
  return Ask([&](StoredIndex& index) { return index.IsKnownDamage(place); });
}

absl::Status LiveIndex::CheckFiles() {
  return Ask([](StoredIndex& index) { return index.CheckFiles(); });
}

// Roots are few.
absl::Status LiveIndex::ForEachRoot(const std::function<absl::Status(const IndexedRoot&)>& visit) {
  std::vector<IndexedRoot> roots;
  RETURN_IF_ERROR(Ask([&](StoredIndex& index) {
    roots.clear();
    return index.ForEachRoot([&](const IndexedRoot& root) {
      roots.push_back(root);
      return absl::OkStatus();
    });
  }));
  for (const IndexedRoot& root : roots) RETURN_IF_ERROR(visit(root));
  return absl::OkStatus();
}

absl::Status LiveIndex::ForEachBlob(const KeyRange& range,
                                    const std::function<absl::Status(const LocatedBlob&)>& visit) {
  Walk walk(range);
  return walk.End(Ask([&](StoredIndex& index) {
    return walk.OfIndex(index.ForEachBlob(walk.left(), [&](const LocatedBlob& blob) {
      return walk.Visited(blob.first, visit(blob));
    }));
  }));
}

absl::Status LiveIndex::ForEachResult(
    const KeyRange& range,
    const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) {
  Walk walk(range);
  return walk.End(Ask([&](StoredIndex& index) {
    return walk.OfIndex(
        index.ForEachResult(walk.left(), [&](const Digest& key, const ResultPlace& place) {
          return walk.Visited(key, visit(key, place));
        }));
  }));
}

absl::Status LiveIndex::ForEachActionResult(
    const KeyRange& range,
    const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) {
  Walk walk(range);
  return walk.End(Ask([&](StoredIndex& index) {
    return walk.OfIndex(
        index.ForEachActionResult(walk.left(), [&](const Digest& key, const ResultPlace& place) {
          return walk.Visited(key, visit(key, place));
        }));
  }));
}

absl::Status LiveIndex::ForEachObservationSet(
    const KeyRange& range,
    const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) {
  Walk walk(range);
  return walk.End(Ask([&](StoredIndex& index) {
    return walk.OfIndex(
        index.ForEachObservationSet(walk.left(), [&](const Digest& key, const SetPlace& set) {
          return walk.Visited(key, visit(key, set));
        }));
  }));
}

}  // namespace galley::store
