#include "common/store/local/index.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "fmt/format.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"

namespace galley::store {
namespace {

// Keys begin with one letter: b blob, r result, a another program's result, o observation sets, p
// published root, s segment, d known damage, m about the index.
constexpr std::string_view kMetaStore = "mstore";        // "<index version> <store id>"
constexpr std::string_view kMetaEpoch = "mepoch";        // fixed64
constexpr std::string_view kMetaDisputed = "mdisputed";  // fixed64, or not there
constexpr std::string_view kMetaCounters = "mcounters";  // 7 * fixed64
constexpr std::string_view kIndexVersion = "1";

// Big-endian, so that keys sort by number.
void PutBig(std::string& bytes, uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}
uint64_t GetBig(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string DigestKey(char kind, const Digest& digest) {
  std::string key(1, kind);
  PutDigest(key, digest);
  return key;
}
absl::Status WrongValue(std::string_view what) {
  return absl::DataLossError(fmt::format("a {} has the wrong size", what));
}
absl::StatusOr<Digest> KeyDigest(std::string_view key) {
  if (key.size() != 1 + kDigestBytes) return WrongValue("key");
  return GetDigest(key, 1);
}
std::string RootsPrefix(std::string_view project_id) {
  std::string key = "p";
  PutBig(key, project_id.size(), 4);
  key += project_id;
  return key;
}
std::string RootKey(const PublishedRoot& root) {
  std::string key = RootsPrefix(root.project_id);
  PutBig(key, root.platform.size(), 4);
  key += root.platform;
  PutBig(key, root.sequence, 8);
  return key;
}
std::string SegmentKey(uint64_t number) {
  std::string key = "s";
  PutBig(key, number, 8);
  return key;
}
std::string DamageKey(const RecordPlace& place) {
  std::string key = "d";
  PutBig(key, place.segment, 8);
  PutBig(key, place.offset, 8);
  return key;
}

std::string EncodePlace(uint64_t segment, uint64_t offset) {
  std::string bytes;
  PutFixed64(bytes, segment);
  PutFixed64(bytes, offset);
  return bytes;
}
absl::StatusOr<RecordPlace> DecodePlace(std::string_view bytes) {
  if (bytes.size() < 16) return WrongValue("place");
  return RecordPlace{.segment = GetFixed64(bytes, 0), .offset = GetFixed64(bytes, 8)};
}
std::string EncodeResultPlace(const ResultPlace& place) {
  std::string bytes = EncodePlace(place.segment, place.offset);
  PutFixed32(bytes, place.used_hours);
  return bytes;
}
absl::StatusOr<ResultPlace> DecodeResultPlace(std::string_view bytes) {
  ASSIGN_OR_RETURN(const RecordPlace place, DecodePlace(bytes));
  // An older program says nothing of its use.
  return ResultPlace{place, bytes.size() >= 20 ? GetFixed32(bytes, 16) : 0};
}
std::string EncodeSets(const std::vector<SetPlace>& sets) {
  std::string bytes;
  for (const SetPlace& set : sets) {
    bytes += EncodePlace(set.place.segment, set.place.offset);
    PutFixed64(bytes, set.checksum);
  }
  return bytes;
}
absl::StatusOr<std::vector<SetPlace>> DecodeSets(std::string_view bytes) {
  if (bytes.size() % 24 != 0) return WrongValue("list of observation sets");
  std::vector<SetPlace> sets;
  for (size_t at = 0; at < bytes.size(); at += 24) {
    sets.push_back(
        {.place = {.segment = GetFixed64(bytes, at), .offset = GetFixed64(bytes, at + 8)},
         .checksum = GetFixed64(bytes, at + 16)});
  }
  return sets;
}
absl::StatusOr<IndexedRoot> DecodeRoot(std::string_view bytes) {
  IndexedRoot indexed;
  ASSIGN_OR_RETURN(indexed.place, DecodePlace(bytes));
  ASSIGN_OR_RETURN(indexed.root, DecodePublished(bytes.substr(16)));
  return indexed;
}
absl::StatusOr<SegmentState> DecodeSegmentState(std::string_view bytes) {
  if (bytes.size() != 16) return WrongValue("segment's state");
  return SegmentState{.writer = static_cast<SegmentWriterKind>(GetFixed32(bytes, 0)),
                      .is_abandoned = (GetFixed32(bytes, 4) & 1) != 0,
                      .is_cut = (GetFixed32(bytes, 4) & 2) != 0,
                      .is_dropped = (GetFixed32(bytes, 4) & 4) != 0,
                      .indexed_bytes = GetFixed64(bytes, 8)};
}
std::string EncodeCounters(const IndexCounters& c) {
  std::string bytes;
  for (const uint64_t value :
       {c.blobs, c.blob_bytes, c.files, c.file_bytes, c.results, c.observation_sets, c.roots})
    PutFixed64(bytes, value);
  return bytes;
}
absl::StatusOr<IndexCounters> DecodeCounters(std::string_view bytes) {
  if (bytes.size() != 56) return WrongValue("set of counters");
  return IndexCounters{.blobs = GetFixed64(bytes, 0),
                       .blob_bytes = GetFixed64(bytes, 8),
                       .files = GetFixed64(bytes, 16),
                       .file_bytes = GetFixed64(bytes, 24),
                       .results = GetFixed64(bytes, 32),
                       .observation_sets = GetFixed64(bytes, 40),
                       .roots = GetFixed64(bytes, 48)};
}

rocksdb::Options IndexOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(32 << 20);
  table.cache_index_and_filter_blocks = true;  // bounded memory, whatever the number of blobs
  // In pieces of a few KB: as a whole, those of a large table do not fit into the cache's shards,
  // and each look-up would read megabytes.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.format_version = 5;
  rocksdb::Options options = rocks::SharedOptions();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;  // hashes do not compress
  options.write_buffer_size = 8 << 20;
  // Most of what is asked for while things are cooked is not there: neither in the tables, nor in
  // what was written lately.
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.05;
  // A commit's blobs come in the order of their digests: each goes in near the one before.
  options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(1));
  options.max_manifest_file_size = 4 << 20;
  return options;
}

constexpr size_t kKeysAtOnce = 256;

// Database: RocksDB on one folder, and what was found wrong in it.
//
// RocksDB opens files by their paths as long as it lives. It is given the path of a descriptor of
// the folder, so that the folder can be renamed under it: a damaged index is moved aside while
// others still read it.
class Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, bool create) {
    FileDescriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid()) return OpenError(errno, path);
    auto database = std::unique_ptr<Database>(new Database(path, std::move(folder)));
    if (!FileExists(database->alias_)) {
      return absl::FailedPreconditionError(
          fmt::format("index {}: {} is not there: mount /proc", path, database->alias_));
    }
    rocksdb::Options options = IndexOptions();
    options.create_if_missing = create;
    options.error_if_exists = create;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, database->alias_, &db);
    database->db_.reset(db);
    RETURN_IF_ERROR(database->From(status));
    return database;
  }

  rocksdb::DB& operator*() const { return *db_; }
  rocksdb::DB* operator->() const { return db_.get(); }

  absl::Status From(const rocksdb::Status& status) {
    if (status.ok()) return absl::OkStatus();
    std::string text = status.ToString();
    for (size_t at = 0; (at = text.find(alias_, at)) != std::string::npos;)
      text.replace(at, alias_.size(), "index");
    if (!rocks::IsOfMachine(status)) return Damaged(text);
    const std::string message = fmt::format("index {}: {}", path(), text);
    return status.IsBusy() || status.IsTryAgain() ? absl::InternalError(message)
                                                  : absl::ResourceExhaustedError(message);
  }
  // A value that was read. What is wrong with it is damage.
  template <typename T>
  absl::StatusOr<T> Decoded(absl::StatusOr<T> value) {
    if (value.ok()) return value;
    return Damaged(MessageOf(value.status()));
  }
  absl::Status Damaged(std::string_view what) {
    const base::MutexLock lock(mutex_);
    const absl::Status status = absl::DataLossError(std::string(what));
    if (damage_.ok()) damage_ = status;
    return status;
  }
  absl::Status damage() const {
    const base::MutexLock lock(mutex_);
    return damage_;
  }
  std::string path() const {
    const base::MutexLock lock(mutex_);
    return path_;
  }
  void SetPath(const std::string& path) {
    const base::MutexLock lock(mutex_);
    path_ = path;
  }

 private:
  Database(std::string path, FileDescriptor folder)
      : folder_(std::move(folder)),
        alias_(fmt::format("/proc/self/fd/{}", folder_.get())),
        path_(std::move(path)) {}

  static absl::Status OpenError(int error, const std::string& path) {
    if (error == ENOENT) return absl::NotFoundError("it is gone");
    if (error == ENOTDIR) return absl::DataLossError("it is no folder");
    if (error == EACCES) return absl::DataLossError("it may not be read");
    return ErrnoStatus(error, "open", path);
  }

  const FileDescriptor folder_;
  const std::string alias_;  // of the folder, whatever its name
  std::unique_ptr<rocksdb::DB> db_;
  mutable base::Mutex mutex_;
  std::string path_ GALLEY_GUARDED_BY(mutex_);
  absl::Status damage_ GALLEY_GUARDED_BY(mutex_);
};

// Visits the value under each of at most kKeysAtOnce keys, with its number; nullopt: none.
template <typename Visit>
absl::Status GetMany(Database& db, std::span<const std::string> keys, const Visit& visit) {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db->MultiGet(rocksdb::ReadOptions(), db->DefaultColumnFamily(), keys.size(), slices.data(),
               values.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool absent = statuses[i].IsNotFound();
    if (!absent) RETURN_IF_ERROR(db.From(statuses[i]));
    RETURN_IF_ERROR(visit(i, absent ? std::nullopt : std::optional(rocks::ToView(values[i]))));
  }
  return absl::OkStatus();
}

class RocksBatch final : public IndexBatch {
 public:
  RocksBatch(Database& db, const IndexCounters& counters) : db_(db), counters_(counters) {}

  absl::Status SetBlob(const Digest& digest, const BlobLocation& location) override {
    return Replace(DigestKey('b', digest), EncodePlace(location.segment, location.offset));
  }
  absl::Status SetBlobs(std::span<const LocatedBlob> blobs) override {
    return ReplaceEach('b', blobs, [](const BlobLocation& to, std::optional<std::string_view>) {
      return EncodePlace(to.segment, to.offset);
    });
  }
  absl::Status RemoveBlob(const Digest& digest) override {
    return Replace(DigestKey('b', digest), std::nullopt);
  }
  absl::Status SetResults(std::span<const LocatedResult> results) override {
    return ReplaceEach('r', results, [](const RecordPlace& to, std::optional<std::string_view>) {
      return EncodePlace(to.segment, to.offset);
    });
  }
  absl::Status RemoveResult(const Digest& action_key) override {
    return Replace(DigestKey('r', action_key), std::nullopt);
  }
  absl::Status SetActionResult(const Digest& key, const RecordPlace& place) override {
    return Set(DigestKey('a', key), EncodePlace(place.segment, place.offset));
  }
  absl::Status RemoveActionResult(const Digest& key) override {
    return Set(DigestKey('a', key), std::nullopt);
  }
  absl::Status StampResult(const Digest& action_key, uint32_t hours) override {
    return Stamp(DigestKey('r', action_key), hours);
  }
  absl::Status StampActionResult(const Digest& key, uint32_t hours) override {
    return Stamp(DigestKey('a', key), hours);
  }
  absl::Status AddObservationSets(std::span<const LocatedSet> added) override {
    const auto add = [this](const SetPlace& set,
                            std::optional<std::string_view> there) -> absl::StatusOr<std::string> {
      ASSIGN_OR_RETURN(std::vector<SetPlace> sets, db_.Decoded(DecodeSets(there.value_or(""))));
      std::erase_if(sets, [&](const SetPlace& other) { return other.checksum == set.checksum; });
      sets.insert(sets.begin(), set);
      if (sets.size() > ActionCache::kSetsMax) sets.resize(ActionCache::kSetsMax);
      return EncodeSets(sets);
    };
    return ReplaceEach('o', added, add);
  }
  absl::Status RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) override {
    ASSIGN_OR_RETURN(std::vector<SetPlace> sets, Sets(weak_key));
    std::erase_if(sets, [&](const SetPlace& other) { return other.place == place; });
    return ReplaceSets(weak_key, sets);
  }
  absl::Status MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                  const RecordPlace& to) override {
    ASSIGN_OR_RETURN(std::vector<SetPlace> sets, Sets(weak_key));
    for (SetPlace& set : sets) {
      if (set.place == from) set.place = to;
    }
    return sets.empty() ? absl::OkStatus() : ReplaceSets(weak_key, sets);
  }
  absl::Status SetRoot(const PublishedRoot& root, const RecordPlace& place) override {
    return Replace(RootKey(root), EncodePlace(place.segment, place.offset) + EncodePublished(root));
  }
  absl::Status SetSegment(uint64_t number, const SegmentState& state) override {
    std::string value;
    PutFixed32(value, static_cast<uint32_t>(state.writer));
    PutFixed32(value, (state.is_abandoned ? 1u : 0u) | (state.is_cut ? 2u : 0u) |
                          (state.is_dropped ? 4u : 0u));
    PutFixed64(value, state.indexed_bytes);
    return Set(SegmentKey(number), std::move(value));
  }
  absl::Status RemoveSegment(uint64_t number) override {
    return Set(SegmentKey(number), std::nullopt);
  }
  absl::Status SetEpoch(uint64_t epoch) override {
    epoch_ = std::max(epoch_.value_or(0), epoch);
    ++changes_;
    return absl::OkStatus();
  }
  std::optional<uint64_t> epoch() const override { return epoch_; }
  void SetDisputed() override { is_disputing_ = true; }
  bool is_disputing() const { return is_disputing_; }
  absl::Status NoteDamage(const RecordPlace& place) override { return Set(DamageKey(place), ""); }
  size_t size() const override { return changes_; }

  absl::Status WriteTo(uint64_t epoch, std::optional<uint64_t> disputed_epoch) {
    rocksdb::WriteOptions options;
    options.disableWAL = true;  // the segments are the log
    rocksdb::WriteBatch& batch = batch_;
    std::string value;
    PutFixed64(value, epoch);
    RETURN_IF_ERROR(db_.From(batch.Put(rocks::ToSlice(kMetaEpoch), rocks::ToSlice(value))));
    if (disputed_epoch.has_value()) {
      value.clear();
      PutFixed64(value, *disputed_epoch);
      RETURN_IF_ERROR(db_.From(batch.Put(rocks::ToSlice(kMetaDisputed), rocks::ToSlice(value))));
    }
    RETURN_IF_ERROR(db_.From(
        batch.Put(rocks::ToSlice(kMetaCounters), rocks::ToSlice(EncodeCounters(counters_)))));
    return db_.From(db_->Write(options, &batch));
  }
  const IndexCounters& counters() const { return counters_; }

  // Makes the same changes here.
  absl::Status Add(const RocksBatch& other) {
    for (const auto& [key, value] : other.changed_) RETURN_IF_ERROR(Replace(key, value));
    if (other.epoch_.has_value()) RETURN_IF_ERROR(SetEpoch(*other.epoch_));
    is_disputing_ |= other.is_disputing_;
    return absl::OkStatus();
  }

 private:
  // Keeps the counters true when `value` comes (sign 1) or goes (-1).
  absl::Status Count(std::string_view key, std::string_view value, uint64_t sign) {
    switch (key.front()) {
      case 'b': {
        ASSIGN_OR_RETURN(const Digest digest, db_.Decoded(KeyDigest(key)));
        ASSIGN_OR_RETURN(const RecordPlace place, db_.Decoded(DecodePlace(value)));
        counters_.blobs += sign;
        counters_.blob_bytes += sign * digest.size_bytes();
        if (place.segment != 0) break;
        counters_.files += sign;
        counters_.file_bytes += sign * digest.size_bytes();
        break;
      }
      case 'r':
        counters_.results += sign;
        break;
      case 'o': {
        ASSIGN_OR_RETURN(const std::vector<SetPlace> sets, db_.Decoded(DecodeSets(value)));
        counters_.observation_sets += sign * sets.size();
        break;
      }
      case 'p':
        counters_.roots += sign;
        break;
      default:
        break;  // the others are not counted
    }
    return absl::OkStatus();
  }
  static bool IsCounted(std::string_view key) {
    return std::string_view("brop").find(key.front()) != std::string_view::npos;
  }
  absl::Status Replace(std::string key, std::optional<std::string> value) {
    if (!IsCounted(key)) return Set(std::move(key), std::move(value));
    ASSIGN_OR_RETURN(const std::optional<std::string> there, Get(key));
    return Replace(std::move(key), there, std::move(value));
  }
  absl::Status Replace(std::string key, const std::optional<std::string_view>& there,
                       std::optional<std::string> value) {
    if (there.has_value()) RETURN_IF_ERROR(Count(key, *there, UINT64_MAX));
    if (value.has_value()) RETURN_IF_ERROR(Count(key, *value, 1));
    if (!there.has_value() && !value.has_value()) return absl::OkStatus();
    return Set(std::move(key), std::move(value));
  }
  // For each digest and what it is given, the value becomes what `value_of` makes of that and of
  // the value there (nullopt: none). What is there is asked for together.
  template <typename Given, typename ValueOf>
  absl::Status ReplaceEach(char kind, std::span<const std::pair<Digest, Given>> all,
                           const ValueOf& value_of) {
    for (size_t begin = 0; begin < all.size(); begin += kKeysAtOnce) {
      const auto part = all.subspan(begin, std::min(kKeysAtOnce, all.size() - begin));
      std::vector<std::string> keys;
      keys.reserve(part.size());
      for (const auto& [digest, given] : part) keys.push_back(DigestKey(kind, digest));
      const auto replace = [&](size_t i, std::optional<std::string_view> there) -> absl::Status {
        if (const auto changed = changed_.find(keys[i]); changed != changed_.end()) {
          there.reset();
          if (changed->second.has_value()) there = *changed->second;
        }
        absl::StatusOr<std::string> value = value_of(part[i].second, there);
        RETURN_IF_ERROR(value.status());
        return Replace(std::move(keys[i]), there, *std::move(value));
      };
      RETURN_IF_ERROR(GetMany(db_, keys, replace));
    }
    return absl::OkStatus();
  }
  absl::Status Stamp(std::string key, uint32_t hours) {
    ASSIGN_OR_RETURN(const std::optional<std::string> old, Get(key));
    if (!old.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(ResultPlace place, db_.Decoded(DecodeResultPlace(*old)));
    place.used_hours = hours;
    return Set(std::move(key), EncodeResultPlace(place));
  }
  absl::StatusOr<std::vector<SetPlace>> Sets(const Digest& weak_key) {
    ASSIGN_OR_RETURN(const std::optional<std::string> old, Get(DigestKey('o', weak_key)));
    return db_.Decoded(DecodeSets(old.value_or("")));
  }
  absl::Status ReplaceSets(const Digest& weak_key, const std::vector<SetPlace>& sets) {
    return Replace(DigestKey('o', weak_key),
                   sets.empty() ? std::nullopt : std::optional(EncodeSets(sets)));
  }
  absl::StatusOr<std::optional<std::string>> Get(const std::string& key) {
    if (const auto found = changed_.find(key); found != changed_.end()) return found->second;
    return rocks::Get(*db_, key, [this](const auto& status) { return db_.From(status); });
  }
  absl::Status Set(std::string key, std::optional<std::string> value) {
    ++changes_;
    RETURN_IF_ERROR(db_.From(value.has_value()
                                 ? batch_.Put(rocks::ToSlice(key), rocks::ToSlice(*value))
                                 : batch_.Delete(rocks::ToSlice(key))));
    changed_.insert_or_assign(std::move(key), std::move(value));
    return absl::OkStatus();
  }

  Database& db_;
  rocksdb::WriteBatch batch_;
  // The value that `batch_` gives to each key that it names. Their order does not matter: they are
  // looked up, and added to another batch.
  absl::flat_hash_map<std::string, std::optional<std::string>> changed_;
  IndexCounters counters_;
  std::optional<uint64_t> epoch_;
  bool is_disputing_ = false;
  size_t changes_ = 0;
};

class RocksIndex final : public StoredIndex {
 public:
  explicit RocksIndex(std::unique_ptr<Database> db) : database_(std::move(db)), db_(*database_) {}

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
      if (key.size() != 9) return db_.Damaged(MessageOf(WrongValue("segment's key")));
      ASSIGN_OR_RETURN(segments[GetBig(key.substr(1))], db_.Decoded(DecodeSegmentState(value)));
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
    for (size_t begin = 0; begin < digests.size(); begin += kKeysAtOnce) {
      std::vector<std::string> keys;
      for (const Digest& digest :
           digests.subspan(begin, std::min(kKeysAtOnce, digests.size() - begin)))
        keys.push_back(DigestKey(kind, digest));
      RETURN_IF_ERROR(
          GetMany(db_, keys, [&](size_t, std::optional<std::string_view> value) -> absl::Status {
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

  const std::unique_ptr<Database> database_;
  Database& db_;
  mutable base::Mutex mutex_;
  IndexCounters counters_ GALLEY_GUARDED_BY(mutex_);
  uint64_t epoch_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> disputed_epoch_ GALLEY_GUARDED_BY(mutex_);  // nullopt: not known
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoredIndex>> StoredIndex::Open(const std::string& path,
                                                               std::string_view store_id) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, /*create=*/false));
  auto index = std::make_unique<RocksIndex>(std::move(db));
  RETURN_IF_ERROR(index->Load(store_id));
  return std::unique_ptr<StoredIndex>(std::move(index));
}

absl::StatusOr<std::unique_ptr<StoredIndex>> StoredIndex::Create(const std::string& path) {
  RETURN_IF_ERROR(RemoveAll(path));
  RETURN_IF_ERROR(CreateDirectories(path));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, /*create=*/true));
  return std::unique_ptr<StoredIndex>(std::make_unique<RocksIndex>(std::move(db)));
}

}  // namespace galley::store
