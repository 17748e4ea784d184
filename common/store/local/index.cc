#include "common/store/local/index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/index_database.h"
#include "common/store/local/index_values.h"
#include "common/store/local/index_write.h"
#include "fmt/format.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace galley::store {
namespace {

std::string MetaStore(std::string_view store_id) {
  return fmt::format("{} {}", kIndexVersion, store_id);
}

// The value under a key; nullopt: none.
absl::StatusOr<std::optional<std::string>> Get(IndexDatabase& db, std::string_view key) {
  return rocks::Get(*db, key, [&](const rocksdb::Status& status) { return db.From(status); });
}

// Makes one answer of the value under each key, in their order; nullopt: absent.
template <typename Answer, typename Decode>
absl::StatusOr<std::vector<Answer>> GetEach(IndexDatabase& db, char kind,
                                            std::span<const Digest> digests, const Decode& decode) {
  std::vector<Answer> found;
  found.reserve(digests.size());
  const auto add = [&](std::optional<std::string_view> value) -> absl::Status {
    ASSIGN_OR_RETURN(Answer answer, db.Decoded(decode(value)));
    found.push_back(std::move(answer));
    return absl::OkStatus();
  };
  while (!digests.empty()) {
    const auto part = digests.first(std::min(IndexDatabase::kKeysAtOnce, digests.size()));
    digests = digests.subspan(part.size());
    std::vector<std::string> keys;
    keys.reserve(part.size());
    for (const Digest& digest : part) keys.push_back(DigestKey(kind, digest));
    RETURN_IF_ERROR(db.GetMany(std::vector<rocksdb::Slice>(keys.begin(), keys.end()), add));
  }
  return found;
}

absl::StatusOr<std::vector<std::optional<ResultPlace>>> GetPlaces(IndexDatabase& db, char kind,
                                                                  std::span<const Digest> keys) {
  using Place = std::optional<ResultPlace>;
  return GetEach<Place>(db, kind, keys,
                        [](std::optional<std::string_view> value) -> absl::StatusOr<Place> {
                          if (!value.has_value()) return Place();
                          return DecodeResultPlace(*value);
                        });
}

absl::Status ForEach(IndexDatabase& db, std::string_view from, std::string_view prefix,
                     size_t keys_max,
                     const std::function<absl::Status(std::string_view, std::string_view)>& visit) {
  rocks::PrefixScan scan(
      *db, [&](const rocksdb::Status& status) { return db.From(status); }, rocks::PastTheCache());
  return scan.EachFrom(from, prefix, keys_max, visit);
}

template <typename Entry>
absl::Status ForEachDigest(IndexDatabase& db, char kind, const KeyRange& range,
                           absl::StatusOr<Entry> (*decode)(std::string_view),
                           const std::function<absl::Status(const Digest&, const Entry&)>& visit) {
  const std::string prefix(1, kind);
  // A key with a zero at its end is the least key that is behind it.
  const std::string from = range.after.has_value() ? DigestKey(kind, *range.after) + '\0' : prefix;
  return ForEach(db, from, prefix, range.keys_max,
                 [&](std::string_view key, std::string_view value) -> absl::Status {
                   ASSIGN_OR_RETURN(const Digest digest, db.Decoded(KeyDigest(key)));
                   ASSIGN_OR_RETURN(const Entry entry, db.Decoded(decode(value)));
                   return visit(digest, entry);
                 });
}

absl::StatusOr<std::vector<IndexedRoot>> ListRoots(IndexDatabase& db, std::string_view prefix) {
  std::vector<IndexedRoot> roots;
  RETURN_IF_ERROR(ForEach(db, prefix, prefix, SIZE_MAX,
                          [&](std::string_view, std::string_view value) -> absl::Status {
                            ASSIGN_OR_RETURN(IndexedRoot root, db.Decoded(DecodeRoot(value)));
                            roots.push_back(std::move(root));
                            return absl::OkStatus();
                          }));
  return roots;
}

absl::StatusOr<BlobLocation> DecodeLocation(std::string_view value) {
  ASSIGN_OR_RETURN(const RecordPlace place, DecodePlace(value));
  return BlobLocation{.segment = place.segment, .offset = place.offset};
}

}  // namespace

Index::Index(std::unique_ptr<IndexDatabase> database) : database_(std::move(database)) {}

Index::~Index() = default;

absl::StatusOr<std::unique_ptr<Index>> Index::Open(const std::string& path,
                                                   std::string_view store_id) {
  ASSIGN_OR_RETURN(std::unique_ptr<IndexDatabase> db, IndexDatabase::Open(path, /*create=*/false));
  std::unique_ptr<Index> index(new Index(std::move(db)));
  RETURN_IF_ERROR(index->Load(store_id));
  return index;
}

absl::StatusOr<std::unique_ptr<Index>> Index::Create(const std::string& path) {
  RETURN_IF_ERROR(RemoveAll(path));
  RETURN_IF_ERROR(CreateDirectories(path));
  ASSIGN_OR_RETURN(std::unique_ptr<IndexDatabase> db, IndexDatabase::Open(path, /*create=*/true));
  return std::unique_ptr<Index>(new Index(std::move(db)));
}

// Reads the values about the index; NOT_FOUND when they are not `store_id`'s.
absl::Status Index::Load(std::string_view store_id) {
  IndexDatabase& db = *database_;
  std::optional<std::string> values[4];
  for (size_t i = 0;
       const std::string_view key : {kMetaStore, kMetaEpoch, kMetaCounters, kMetaDisputed}) {
    ASSIGN_OR_RETURN(values[i++], Get(db, key));
  }
  const auto& [store, epoch, counters, disputed] = values;
  if (store.has_value() && *store != MetaStore(store_id))
    return absl::NotFoundError("it is of another store or version");
  if (!store.has_value() || !epoch.has_value() || !counters.has_value())
    return absl::NotFoundError("its making was cut off");
  if (epoch->size() != 8) return db.Damaged(MessageOf(WrongValue("loss epoch")));
  if (disputed.has_value() && disputed->size() != 8)
    return db.Damaged(MessageOf(WrongValue("epoch of the last dispute")));
  const base::MutexLock lock(mutex_);
  epoch_ = GetFixed64(*epoch, 0);
  ASSIGN_OR_RETURN(counters_, db.Decoded(DecodeCounters(*counters)));
  if (disputed.has_value()) disputed_epoch_ = GetFixed64(*disputed, 0);
  return absl::OkStatus();
}

absl::Status Index::Finish(std::string_view store_id) {
  RETURN_IF_ERROR(WriteWithMeta(IndexBatch()));
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  RETURN_IF_ERROR(
      database_->From((*database_)->Put(options, rocks::ToSlice(kMetaStore), MetaStore(store_id))));
  return Flush(/*wait=*/true);
}

void Index::SetPath(const std::string& path) { database_->SetPath(path); }

absl::Status Index::damage() const { return database_->damage(); }

absl::Status Index::Write(const IndexBatch& batch) {
  return batch.is_empty() ? absl::OkStatus() : WriteWithMeta(batch);
}

absl::Status Index::WriteWithMeta(const IndexBatch& batch) {
  const uint64_t before = this->epoch();
  const uint64_t after = std::max(before, batch.epoch().value_or(0));
  const std::optional<uint64_t> disputed = DisputedAfter(batch, before, after);
  IndexWrite write(*database_, counters());
  RETURN_IF_ERROR(write.Add(batch.changes()));
  RETURN_IF_ERROR(write.Commit(after, disputed));
  const base::MutexLock lock(mutex_);
  counters_ = write.counters();
  epoch_ = after;
  disputed_epoch_ = disputed;
  return absl::OkStatus();
}

// The epoch of the last dispute behind the batch. One that is not known becomes known when the
// epoch rises for another reason.
std::optional<uint64_t> Index::DisputedAfter(const IndexBatch& batch, uint64_t before,
                                             uint64_t after) const {
  if (batch.is_disputing()) return after;
  const base::MutexLock lock(mutex_);
  if (disputed_epoch_.has_value()) return disputed_epoch_;
  return after > before ? std::optional(before) : std::nullopt;
}

absl::Status Index::Flush(bool wait) {
  rocksdb::FlushOptions options;
  options.wait = wait;
  options.allow_write_stall = true;
  return database_->From((*database_)->Flush(options));
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> Index::Blobs(
    std::span<const Digest> digests) {
  using Location = std::optional<BlobLocation>;
  return GetEach<Location>(*database_, 'b', digests,
                           [](std::optional<std::string_view> value) -> absl::StatusOr<Location> {
                             if (!value.has_value()) return Location();
                             return DecodeLocation(*value);
                           });
}

absl::StatusOr<std::vector<std::optional<ResultPlace>>> Index::Results(
    std::span<const Digest> action_keys) {
  return GetPlaces(*database_, 'r', action_keys);
}

absl::StatusOr<std::vector<std::optional<ResultPlace>>> Index::ActionResults(
    std::span<const Digest> keys) {
  return GetPlaces(*database_, 'a', keys);
}

absl::StatusOr<std::vector<std::vector<SetPlace>>> Index::ObservationSets(
    std::span<const Digest> weak_keys) {
  return GetEach<std::vector<SetPlace>>(
      *database_, 'o', weak_keys,
      [](std::optional<std::string_view> value) { return DecodeSets(value.value_or("")); });
}

absl::StatusOr<std::vector<IndexedRoot>> Index::Roots(std::string_view project_id) {
  ASSIGN_OR_RETURN(std::vector<IndexedRoot> roots,
                   ListRoots(*database_, project_id.empty() ? "p" : RootsPrefix(project_id)));
  // The roots come by project, platform and sequence. A clock that was put back does not put one
  // before its predecessors; those of one time are told apart by where they lie.
  std::vector<std::tuple<int64_t, RecordPlace, size_t>> order;
  for (size_t i = 0; i < roots.size(); ++i) {
    const PublishedRoot& root = roots[i].root;
    const bool is_successor = i != 0 && roots[i - 1].root.project_id == root.project_id &&
                              roots[i - 1].root.platform == root.platform;
    const int64_t time_us = absl::ToUnixMicros(root.time);
    order.emplace_back(is_successor ? std::max(time_us, std::get<0>(order.back()) + 1) : time_us,
                       roots[i].place, i);
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<IndexedRoot> newest_first;
  for (const auto& [time_us, place, at] : order) newest_first.push_back(std::move(roots[at]));
  return newest_first;
}

absl::StatusOr<std::vector<IndexedRoot>> Index::AllRoots() { return ListRoots(*database_, "p"); }

absl::StatusOr<std::map<uint64_t, SegmentState>> Index::Segments() {
  IndexDatabase& db = *database_;
  std::map<uint64_t, SegmentState> segments;
  RETURN_IF_ERROR(ForEach(
      db, "s", "s", SIZE_MAX, [&](std::string_view key, std::string_view value) -> absl::Status {
        ASSIGN_OR_RETURN(const uint64_t number, db.Decoded(KeySegment(key)));
        ASSIGN_OR_RETURN(segments[number], db.Decoded(DecodeSegmentState(value)));
        return absl::OkStatus();
      }));
  return segments;
}

absl::StatusOr<std::optional<SegmentState>> Index::Segment(uint64_t number) {
  ASSIGN_OR_RETURN(const std::optional<std::string> value, Get(*database_, SegmentKey(number)));
  if (!value.has_value()) return std::optional<SegmentState>();
  ASSIGN_OR_RETURN(const SegmentState state, database_->Decoded(DecodeSegmentState(*value)));
  return std::optional(state);
}

absl::StatusOr<bool> Index::IsKnownDamage(const RecordPlace& place) {
  ASSIGN_OR_RETURN(const std::optional<std::string> value, Get(*database_, DamageKey(place)));
  return value.has_value();
}

absl::Status Index::CheckFiles() {
  return database_->From((*database_)->VerifyChecksum(rocksdb::ReadOptions()));
}

uint64_t Index::epoch() const {
  const base::MutexLock lock(mutex_);
  return epoch_;
}

uint64_t Index::disputed_epoch() const {
  const base::MutexLock lock(mutex_);
  return disputed_epoch_.value_or(epoch_);
}

IndexCounters Index::counters() const {
  const base::MutexLock lock(mutex_);
  return counters_;
}

absl::Status Index::ForEachBlob(const KeyRange& range, const Visit<BlobLocation>& visit) {
  return ForEachDigest(*database_, 'b', range, &DecodeLocation, visit);
}

absl::Status Index::ForEachResult(const KeyRange& range, const Visit<ResultPlace>& visit) {
  return ForEachDigest(*database_, 'r', range, &DecodeResultPlace, visit);
}

absl::Status Index::ForEachActionResult(const KeyRange& range, const Visit<ResultPlace>& visit) {
  return ForEachDigest(*database_, 'a', range, &DecodeResultPlace, visit);
}

absl::Status Index::ForEachObservationSet(const KeyRange& range, const Visit<SetPlace>& visit) {
  return ForEachDigest<std::vector<SetPlace>>(
      *database_, 'o', range, &DecodeSets,
      [&](const Digest& key, const std::vector<SetPlace>& sets) -> absl::Status {
        for (const SetPlace& set : sets) RETURN_IF_ERROR(visit(key, set));
        return absl::OkStatus();
      });
}

}  // namespace galley::store
