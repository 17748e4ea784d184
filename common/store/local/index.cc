#include "common/store/local/index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/index_batch.h"
#include "common/store/local/index_database.h"
#include "common/store/local/index_values.h"
#include "fmt/format.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace galley::store {
namespace {

class RocksIndex final : public StoredIndex {
 public:
  explicit RocksIndex(std::unique_ptr<IndexDatabase> db)
      : database_(std::move(db)), db_(*database_) {}

  // The values about the index; NOT_FOUND when they are not `store_id`'s.
  absl::Status Load(std::string_view store_id) {
    std::string value;
    for (const std::string_view key : {kMetaStore, kMetaEpoch, kMetaCounters}) {
      const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), rocks::ToSlice(key), &value);
      if (status.IsNotFound()) return absl::NotFoundError("its making was cut off");
      RETURN_IF_ERROR(db_.From(status));
      if (key == kMetaStore && value != MetaStore(store_id))
        return absl::NotFoundError("it is of another store or version");
      if (key == kMetaEpoch && value.size() != 8)
        return db_.Damaged(MessageOf(WrongValue("loss epoch")));
      const base::MutexLock lock(mutex_);
      if (key == kMetaEpoch) epoch_ = GetFixed64(value, 0);
      if (key == kMetaCounters) {
        ASSIGN_OR_RETURN(counters_, db_.Decoded(DecodeCounters(value)));
      }
    }
    const rocksdb::Status status =
        db_->Get(rocksdb::ReadOptions(), rocks::ToSlice(kMetaDisputed), &value);
    if (status.IsNotFound()) return absl::OkStatus();
    RETURN_IF_ERROR(db_.From(status));
    if (value.size() != 8) return db_.Damaged(MessageOf(WrongValue("epoch of the last dispute")));
    const base::MutexLock lock(mutex_);
    disputed_epoch_ = GetFixed64(value, 0);
    return absl::OkStatus();
  }
  absl::Status Finish(std::string_view store_id) override {
    auto batch = NewBatch();
    RETURN_IF_ERROR(Write(*batch));
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    RETURN_IF_ERROR(db_.From(db_->Put(options, rocks::ToSlice(kMetaStore), MetaStore(store_id))));
    return Flush(/*wait=*/true);
  }
  void SetPath(const std::string& path) override { db_.SetPath(path); }
  absl::Status damage() const override { return db_.damage(); }

  std::unique_ptr<IndexBatch> NewBatch() override {
    return std::make_unique<RocksBatch>(db_, counters());
  }
  absl::StatusOr<std::unique_ptr<IndexBatch>> Rebase(const IndexBatch& batch) override {
    auto same = std::make_unique<RocksBatch>(db_, counters());
    RETURN_IF_ERROR(same->Add(static_cast<const RocksBatch&>(batch)));
    return same;
  }

  using Index::Write;
  absl::Status Write(IndexBatch& batch) override {
    auto& rocks = static_cast<RocksBatch&>(batch);
    const uint64_t before = this->epoch();
    const uint64_t epoch = std::max(before, rocks.epoch().value_or(0));
    const std::optional<uint64_t> disputed = DisputedAfter(rocks, before, epoch);
    RETURN_IF_ERROR(rocks.WriteTo(epoch, disputed));
    const base::MutexLock lock(mutex_);
    counters_ = rocks.counters();
    epoch_ = epoch;
    disputed_epoch_ = disputed;
    return absl::OkStatus();
  }
  absl::Status Flush(bool wait) override {
    rocksdb::FlushOptions options;
    options.wait = wait;
    options.allow_write_stall = true;
    return db_.From(db_->Flush(options));
  }

  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Blobs(
      std::span<const Digest> digests) override {
    std::vector<std::optional<BlobLocation>> found;
    found.reserve(digests.size());
    const absl::Status status =
        GetEach('b', digests, [&](std::optional<std::string_view> value) -> absl::Status {
          found.emplace_back();
          if (!value.has_value()) return absl::OkStatus();
          ASSIGN_OR_RETURN(const RecordPlace place, db_.Decoded(DecodePlace(*value)));
          found.back() = BlobLocation{.segment = place.segment, .offset = place.offset};
          return absl::OkStatus();
        });
    RETURN_IF_ERROR(status);
    return found;
  }
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> Results(
      std::span<const Digest> action_keys) override {
    return Places('r', action_keys);
  }
  absl::StatusOr<std::vector<std::optional<ResultPlace>>> ActionResults(
      std::span<const Digest> keys) override {
    return Places('a', keys);
  }
  absl::StatusOr<std::vector<std::vector<SetPlace>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    std::vector<std::vector<SetPlace>> found;
    found.reserve(weak_keys.size());
    const absl::Status status =
        GetEach('o', weak_keys, [&](std::optional<std::string_view> value) -> absl::Status {
          ASSIGN_OR_RETURN(std::vector<SetPlace> sets, db_.Decoded(DecodeSets(value.value_or(""))));
          found.push_back(std::move(sets));
          return absl::OkStatus();
        });
    RETURN_IF_ERROR(status);
    return found;
  }
  absl::StatusOr<std::vector<IndexedRoot>> Roots(std::string_view project_id) override {
    std::vector<IndexedRoot> roots;
    // They come by project, platform and sequence. A clock that was put back does not put one
    // before its predecessors; those of one time are told apart by where they lie.
    std::vector<std::tuple<int64_t, RecordPlace, size_t>> order;
    RETURN_IF_ERROR(ForEach(
        project_id.empty() ? "p" : RootsPrefix(project_id),
        [&](std::string_view, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(IndexedRoot indexed, db_.Decoded(DecodeRoot(value)));
          const bool is_successor = !roots.empty() &&
                                    roots.back().root.project_id == indexed.root.project_id &&
                                    roots.back().root.platform == indexed.root.platform;
          const int64_t time_us = absl::ToUnixMicros(indexed.root.time);
          order.emplace_back(
              is_successor ? std::max(time_us, std::get<0>(order.back()) + 1) : time_us,
              indexed.place, roots.size());
          roots.push_back(std::move(indexed));
          return absl::OkStatus();
        }));
    std::sort(order.rbegin(), order.rend());
    std::vector<IndexedRoot> newest_first;
    for (const auto& [time_us, place, at] : order) newest_first.push_back(std::move(roots[at]));
    return newest_first;
  }
  absl::StatusOr<std::map<uint64_t, SegmentState>> Segments() override {
    std::map<uint64_t, SegmentState> segments;
    RETURN_IF_ERROR(ForEach("s", [&](std::string_view key, std::string_view value) -> absl::Status {
      ASSIGN_OR_RETURN(const uint64_t number, db_.Decoded(KeySegment(key)));
      ASSIGN_OR_RETURN(segments[number], db_.Decoded(DecodeSegmentState(value)));
      return absl::OkStatus();
    }));
    return segments;
  }
  absl::StatusOr<std::optional<SegmentState>> Segment(uint64_t number) override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), SegmentKey(number), &value);
    if (status.IsNotFound()) return std::optional<SegmentState>();
    RETURN_IF_ERROR(db_.From(status));
    ASSIGN_OR_RETURN(const SegmentState state, db_.Decoded(DecodeSegmentState(value)));
    return std::optional(state);
  }
  absl::StatusOr<bool> IsKnownDamage(const RecordPlace& place) override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), DamageKey(place), &value);
    if (status.IsNotFound()) return false;
    RETURN_IF_ERROR(db_.From(status));
    return true;
  }
  absl::Status CheckFiles() override {
    return db_.From(db_->VerifyChecksum(rocksdb::ReadOptions()));
  }
  uint64_t epoch() const override {
    const base::MutexLock lock(mutex_);
    return epoch_;
  }
  uint64_t disputed_epoch() const override {
    const base::MutexLock lock(mutex_);
    return disputed_epoch_.value_or(epoch_);
  }
  IndexCounters counters() const override {
    const base::MutexLock lock(mutex_);
    return counters_;
  }

  absl::Status ForEachBlob(const std::function<absl::Status(const LocatedBlob&)>& visit) override {
    return ForEachBlob(KeyRange(), visit);
  }
  absl::Status ForEachBlob(const KeyRange& range,
                           const std::function<absl::Status(const LocatedBlob&)>& visit) override {
    return ForEachDigest(
        'b', range, [&](const Digest& digest, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(const RecordPlace place, db_.Decoded(DecodePlace(value)));
          return visit({digest, BlobLocation{.segment = place.segment, .offset = place.offset}});
        });
  }
  absl::Status ForEachResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachPlace('r', KeyRange(), visit);
  }
  absl::Status ForEachResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachPlace('r', range, visit);
  }
  absl::Status ForEachActionResult(
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachPlace('a', KeyRange(), visit);
  }
  absl::Status ForEachActionResult(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) override {
    return ForEachPlace('a', range, visit);
  }
  absl::Status ForEachObservationSet(
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) override {
    return ForEachObservationSet(KeyRange(), visit);
  }
  absl::Status ForEachObservationSet(
      const KeyRange& range,
      const std::function<absl::Status(const Digest&, const SetPlace&)>& visit) override {
    return ForEachDigest(
        'o', range, [&](const Digest& digest, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(const std::vector<SetPlace> sets, db_.Decoded(DecodeSets(value)));
          for (const SetPlace& set : sets) RETURN_IF_ERROR(visit(digest, set));
          return absl::OkStatus();
        });
  }
  absl::Status ForEachRoot(const std::function<absl::Status(const IndexedRoot&)>& visit) override {
    return ForEach("p", [&](std::string_view, std::string_view value) -> absl::Status {
      ASSIGN_OR_RETURN(const IndexedRoot root, db_.Decoded(DecodeRoot(value)));
      return visit(root);
    });
  }

 private:
  static std::string MetaStore(std::string_view store_id) {
    return fmt::format("{} {}", kIndexVersion, store_id);
  }

  absl::StatusOr<std::vector<std::optional<ResultPlace>>> Places(char kind,
                                                                 std::span<const Digest> keys) {
    std::vector<std::optional<ResultPlace>> found;
    found.reserve(keys.size());
    const absl::Status status =
        GetEach(kind, keys, [&](std::optional<std::string_view> value) -> absl::Status {
          found.emplace_back();
          if (!value.has_value()) return absl::OkStatus();
          ASSIGN_OR_RETURN(found.back(), db_.Decoded(DecodeResultPlace(*value)));
          return absl::OkStatus();
        });
    RETURN_IF_ERROR(status);
    return found;
  }
  absl::Status ForEachPlace(
      char kind, const KeyRange& range,
      const std::function<absl::Status(const Digest&, const ResultPlace&)>& visit) {
    return ForEachDigest(
        kind, range, [&](const Digest& digest, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(const ResultPlace place, db_.Decoded(DecodeResultPlace(value)));
          return visit(digest, place);
        });
  }

  // One value for each key, in their order; nullopt: absent.
  template <typename Visit>
  absl::Status GetEach(char kind, std::span<const Digest> digests, const Visit& visit) {
    for (size_t begin = 0; begin < digests.size(); begin += IndexDatabase::kKeysAtOnce) {
      std::vector<std::string> keys;
      for (const Digest& digest :
           digests.subspan(begin, std::min(IndexDatabase::kKeysAtOnce, digests.size() - begin)))
        keys.push_back(DigestKey(kind, digest));
      RETURN_IF_ERROR(
          db_.GetMany(keys, [&](size_t, std::optional<std::string_view> value) -> absl::Status {
            return visit(value);
          }));
    }
    return absl::OkStatus();
  }

  absl::Status ForEachDigest(
      char kind, const KeyRange& range,
      const std::function<absl::Status(const Digest&, std::string_view)>& visit) {
    const std::string prefix(1, kind);
    // (A zero more than a key is the least that is behind it.)
    const std::string from =
        range.after.has_value() ? DigestKey(kind, *range.after) + '\0' : prefix;
    return ForEachFrom(from, prefix, range.keys_max,
                       [&](std::string_view key, std::string_view value) -> absl::Status {
                         ASSIGN_OR_RETURN(const Digest digest, db_.Decoded(KeyDigest(key)));
                         return visit(digest, value);
                       });
  }
  absl::Status ForEach(
      std::string_view prefix,
      const std::function<absl::Status(std::string_view, std::string_view)>& visit) {
    return ForEachFrom(prefix, prefix, SIZE_MAX, visit);
  }
  absl::Status ForEachFrom(
      std::string_view from, std::string_view prefix, size_t keys_max,
      const std::function<absl::Status(std::string_view, std::string_view)>& visit) {
    rocks::PrefixScan scan(
        *db_, [this](const auto& status) { return db_.From(status); }, rocks::PastTheCache());
    return scan.EachFrom(from, prefix, keys_max, visit);
  }

  // The epoch of the last dispute behind the batch. One that is not known becomes known when the
  // epoch rises for another reason.
  std::optional<uint64_t> DisputedAfter(const RocksBatch& batch, uint64_t before,
                                        uint64_t after) const {
    if (batch.is_disputing()) return after;
    const base::MutexLock lock(mutex_);
    if (disputed_epoch_.has_value()) return disputed_epoch_;
    return after > before ? std::optional(before) : std::nullopt;
  }

  const std::unique_ptr<IndexDatabase> database_;
  IndexDatabase& db_;
  mutable base::Mutex mutex_;
  IndexCounters counters_ GALLEY_GUARDED_BY(mutex_);
  uint64_t epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> disputed_epoch_ GALLEY_GUARDED_BY(mutex_);  // nullopt: not known
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoredIndex>> StoredIndex::Open(const std::string& path,
                                                               std::string_view store_id) {
  ASSIGN_OR_RETURN(std::unique_ptr<IndexDatabase> db, IndexDatabase::Open(path, /*create=*/false));
  auto index = std::make_unique<RocksIndex>(std::move(db));
  RETURN_IF_ERROR(index->Load(store_id));
  return std::unique_ptr<StoredIndex>(std::move(index));
}

absl::StatusOr<std::unique_ptr<StoredIndex>> StoredIndex::Create(const std::string& path) {
  RETURN_IF_ERROR(RemoveAll(path));
  RETURN_IF_ERROR(CreateDirectories(path));
  ASSIGN_OR_RETURN(std::unique_ptr<IndexDatabase> db, IndexDatabase::Open(path, /*create=*/true));
  return std::unique_ptr<StoredIndex>(std::make_unique<RocksIndex>(std::move(db)));
}

}  // namespace galley::store
