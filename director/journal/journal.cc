// The journal over RocksDB. What lies under which key: keys.h, index.h; in which form: encoding.h.

#include "director/journal/journal.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/record/observed_value.h"
#include "director/journal/encoding.h"
#include "director/journal/index.h"
#include "director/journal/keys.h"
#include "director/journal/rocks_journal.h"
#include "director/journal/write_fence.h"
#include "fmt/format.h"
#include "rocksdb/write_batch.h"

namespace galley::director {
namespace {

// Walks the keys that begin with a prefix, one prefix after the other.
class PrefixScan {
 public:
  explicit PrefixScan(rocksdb::DB& database)
      : iterator_(database.NewIterator(rocksdb::ReadOptions())) {}

  // `visit(key, value)` for each; it returns a Status.
  template <typename Visit>
  absl::Status Each(std::string_view prefix, const Visit& visit) {
    for (iterator_->Seek(ToSlice(prefix)); iterator_->Valid(); iterator_->Next()) {
      const std::string_view key = ToView(iterator_->key());
      if (!key.starts_with(prefix)) break;
      RETURN_IF_ERROR(visit(key, ToView(iterator_->value())));
    }
    return ToStatus(iterator_->status(), "reading the journal");
  }

 private:
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// What one write changes. The keys go to RocksDB in their order: its memtable finds the place of a
// key from that of the one before, which is near when they are sorted, and packages of a group are
// often of one folder.
class Changes {
 public:
  void Put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value), false});
  }
  void Delete(std::string key) { changes_.push_back({std::move(key), {}, true}); }

  absl::Status AppendTo(rocksdb::WriteBatch& batch) const {
    std::vector<const Change*> sorted;
    sorted.reserve(changes_.size());
    for (const Change& change : changes_) sorted.push_back(&change);
    // Of two changes of one key the later holds.
    std::sort(sorted.begin(), sorted.end(), [](const Change* a, const Change* b) {
      const int order = a->key.compare(b->key);
      return order < 0 || (order == 0 && a < b);
    });
    for (const Change* change : sorted) {
      RETURN_IF_ERROR(ToStatus(
          change->is_deleted ? batch.Delete(change->key) : batch.Put(change->key, change->value),
          "writing the journal"));
    }
    return absl::OkStatus();
  }

 private:
  struct Change {
    std::string key, value;
    bool is_deleted;
  };
  std::vector<Change> changes_;
};

bool IsWorthTelling(const PackageRecord& record) {
  return !record.platforms.empty() || !record.instigators.empty() || !record.failures.empty();
}

// Gathers the keys of one package; they come in the order of their tags.
class RecordBuilder {
 public:
  absl::Status Add(const PackageKeyParts& parts, std::string_view value) {
    switch (parts.tag) {
      case kFailureTag: {
        ASSIGN_OR_RETURN(record_.failures[std::string(parts.platform)], DecodeFailure(value));
        return absl::OkStatus();
      }
      case kInstigatorsTag: {
        ASSIGN_OR_RETURN(record_.instigators, DecodeInstigators(value));
        return absl::OkStatus();
      }
      case kPublishedTag: {
        ASSIGN_OR_RETURN(Published published, DecodePublished(value));
        published_.emplace_back(parts.platform, std::move(published));
        return absl::OkStatus();
      }
      case kRecordTag: {
        ASSIGN_OR_RETURN(PlatformRecord record, DecodePlatformRecord(value));
        record_.platforms.emplace(parts.platform, std::move(record));
        return absl::OkStatus();
      }
      case kUntrustedTag: {
        if (const auto found = record_.platforms.find(std::string(parts.platform));
            found != record_.platforms.end()) {
          found->second.is_trusted = false;
        }
        return absl::OkStatus();
      }
      default:
        return absl::DataLossError(
            fmt::format("the journal holds an unknown kind of record for {}", parts.package));
    }
  }

  PackageRecord Take() {
    for (auto& [platform, published] : published_) {
      const auto found = record_.platforms.find(platform);
      if (found == record_.platforms.end()) continue;
      found->second.published_key = published.key;
      found->second.published_in = std::move(published.in);
    }
    published_.clear();
    return std::exchange(record_, PackageRecord());
  }

 private:
  PackageRecord record_;
  std::vector<std::pair<std::string, Published>> published_;
};

class RocksJournal final : public Journal {
 public:
  RocksJournal(std::string state_directory, const JournalOptions& options,
               std::unique_ptr<rocksdb::DB> database, JournalMeta meta)
      : state_directory_(std::move(state_directory)),
        options_(options),
        database_(std::move(database)),
        meta_(std::move(meta)),
        was_empty_(!options.read_only && HoldsNoPackage(*database_)) {}

  const JournalMeta& meta() const override { return meta_; }

  absl::Status SetMeta(const JournalMeta& meta) override { return Invalidate({}, meta); }

  absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) override {
    if (IsUnknown(package)) return std::nullopt;
    RecordBuilder builder;
    PrefixScan scan(*database_);
    RETURN_IF_ERROR(
        Watch(scan.Each(PackagePrefix(package), [&](std::string_view key, std::string_view value) {
          return AddTo(builder, key, value);
        })));
    PackageRecord record = builder.Take();
    if (!IsWorthTelling(record)) return std::nullopt;
    return record;
  }

  absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) override {
    std::string bytes;
    const rocksdb::Status status =
        database_->Get(rocksdb::ReadOptions(), PackageKey(package, kInstigatorsTag, {}), &bytes);
    if (status.IsNotFound()) return std::vector<InstigatorRecord>();
    RETURN_IF_ERROR(Watch(ToStatus(status, "reading the journal")));
    return DecodeInstigators(bytes);
  }

  absl::Status ForEach(const std::function<void(std::string_view, PackageRecord)>& visit) override {
    return Watch(ScanPackages(visit));
  }

  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override {
    std::set<std::string, std::less<>> affected;
    std::vector<std::string>
        readers_wanted;  // affected packages whose readers are still to be found
    PrefixScan scan(*database_);
    const auto take = [&](const std::string& prefix) {
      return scan.Each(prefix, [&](std::string_view key, std::string_view) {
        const auto [where, is_new] = affected.emplace(key.substr(prefix.size()));
        if (is_new) readers_wanted.push_back(*where);
        return absl::OkStatus();
      });
    };
    for (const std::string& prefix : AskedPrefixes(changes)) RETURN_IF_ERROR(Watch(take(prefix)));
    while (!readers_wanted.empty()) {
      const std::string package = std::move(readers_wanted.back());
      readers_wanted.pop_back();
      RETURN_IF_ERROR(Watch(take(IndexPrefix(kCookedKind, package))));
    }
    return std::vector<std::string>(affected.begin(), affected.end());
  }

  absl::Status Invalidate(std::span<const std::string> packages, const JournalMeta& meta) override {
    rocksdb::WriteBatch batch;
    PrefixScan scan(*database_);
    for (const std::string& package : packages) {
      std::string prefix = PackagePrefix(package);
      prefix.push_back(kRecordTag);
      RETURN_IF_ERROR(Watch(scan.Each(prefix, [&](std::string_view key, std::string_view) {
        return ToStatus(
            batch.Put(PackageKey(package, kUntrustedTag, key.substr(prefix.size())), ""),
            "marking records untrusted");
      })));
      RETURN_IF_ERROR(ToStatus(batch.Delete(BlameKey(package)), "forgiving"));
    }
    RETURN_IF_ERROR(
        ToStatus(batch.Put(ToSlice(kMetaKey), EncodeMeta(meta)), "recording the meta record"));
    RETURN_IF_ERROR(Write(batch, true));
    meta_ = meta;
    return absl::OkStatus();
  }

  absl::Status Record(std::span<const JournalUpdate> updates, bool sync) override {
    // By package, then platform; of two updates of one record the later holds.
    std::map<std::string_view, std::map<std::string_view, const JournalUpdate*>> by_package;
    for (const JournalUpdate& update : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
      RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
      by_package[update.package][update.platform] = &update;
    }
    Changes changes;
    PrefixScan scan(*database_);
    for (const auto& [package, platforms] : by_package) {
      const bool is_new = IsUnknown(package);
      const auto where = [&, name = package] { return fmt::format("recording {}", name); };
      if (absl::Status done = Reindex(package, platforms, is_new ? nullptr : &scan, changes);
          !done.ok())
        return Annotate(done, where());
      for (const auto& [platform, update] : platforms) {
        if (absl::Status done = PutRecord(*update, is_new, changes); !done.ok())
          return Annotate(done, fmt::format("{} for {}", where(), platform));
        if (update->is_unsent) {
          changes.Put(UnsentKey(package, platform),
                      EncodeUnsent({.action_key = update->record.action_key,
                                    .is_dispute = update->is_dispute}));
        }
      }
      NoteKnown(package);
    }
    base::MutexLock lock(unsent_mutex_);
    return Write(changes, sync);
  }

  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override {
    rocksdb::WriteBatch batch;
    for (const FailureUpdate& update : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
      RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
      NoteKnown(update.package);
      RETURN_IF_ERROR(PutOrDelete(batch, PackageKey(update.package, kFailureTag, update.platform),
                                  update.failure.has_value(),
                                  update.failure ? EncodeFailure(*update.failure) : std::string()));
    }
    return Write(batch, false);
  }

  absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) override {
    rocksdb::WriteBatch batch;
    for (const auto& [package, instigators] : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", package));
      NoteKnown(package);
      RETURN_IF_ERROR(PutOrDelete(batch, PackageKey(package, kInstigatorsTag, {}),
                                  !instigators.empty(), EncodeInstigators(instigators)));
    }
    return Write(batch, false);
  }

  absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) override {
    RETURN_IF_ERROR(CheckKeyPart("platform name", platform));
    Changes changes;
    for (const auto& [package, key] : keys) {
      RETURN_IF_ERROR(CheckKeyPart("package name", package));
      NoteKnown(package);
      PutPublished(changes, package, platform, key, in);
    }
    changes.Put(PublishedSequenceKey(platform), EncodeLastPublished(in));
    return Write(changes, true);
  }

  absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) override {
    std::vector<std::string> packages;
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> iterator(database_->NewIterator(options));
    for (iterator->Seek("P"); iterator->Valid() && iterator->key().starts_with("P");
         iterator->Next()) {
      const std::optional<PackageKeyParts> parts = ParsePackageKey(ToView(iterator->key()));
      if (!parts) return Watch(absl::DataLossError("the journal holds a malformed key"));
      if (parts->tag == kPublishedTag && parts->platform == platform)
        packages.emplace_back(parts->package);
    }
    RETURN_IF_ERROR(Watch(ToStatus(iterator->status(), "reading the journal")));
    return packages;
  }

  absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) override {
    std::string bytes;
    const rocksdb::Status status =
        database_->Get(rocksdb::ReadOptions(), PublishedSequenceKey(platform), &bytes);
    if (status.IsNotFound()) return PublishedIn();
    RETURN_IF_ERROR(Watch(ToStatus(status, "reading the journal")));
    absl::StatusOr<PublishedIn> last = DecodeLastPublished(bytes);
    RETURN_IF_ERROR(Watch(last.status()));
    return last;
  }

  absl::Status RecordProgress(const JournalProgress& progress) override {
    rocksdb::WriteBatch batch;
    for (const AttemptRecord& attempt : progress.given)
      RETURN_IF_ERROR(
          PutOrDelete(batch, AttemptKey(attempt.attempt), true, EncodeAttempt(attempt)));
    for (const uint64_t attempt : progress.over)
      RETURN_IF_ERROR(PutOrDelete(batch, AttemptKey(attempt), false, {}));
    for (const BlameRecord& blame : progress.blamed) {
      RETURN_IF_ERROR(CheckKeyPart("package name", blame.package));
      RETURN_IF_ERROR(
          PutOrDelete(batch, BlameKey(blame.package), blame.own_faults > 0, EncodeBlame(blame)));
    }
    return Write(batch, false);
  }

  absl::StatusOr<JournalProgress> Progress() override {
    JournalProgress progress;
    PrefixScan scan(*database_);
    RETURN_IF_ERROR(Watch(scan.Each(
        kAttemptPrefix, [&](std::string_view key, std::string_view value) -> absl::Status {
          const std::optional<uint64_t> attempt = ParseAttemptKey(key);
          if (!attempt) return absl::DataLossError("the journal holds a malformed key");
          ASSIGN_OR_RETURN(AttemptRecord record, DecodeAttempt(value));
          record.attempt = *attempt;
          progress.given.push_back(std::move(record));
          return absl::OkStatus();
        })));
    RETURN_IF_ERROR(Watch(
        scan.Each(kBlamePrefix, [&](std::string_view key, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(BlameRecord blame, DecodeBlame(value));
          blame.package.assign(key.substr(kBlamePrefix.size()));
          progress.blamed.push_back(std::move(blame));
          return absl::OkStatus();
        })));
    return progress;
  }

  absl::Status ForgetProgress() override {
    rocksdb::WriteBatch batch;
    PrefixScan scan(*database_);
    for (const std::string_view prefix : {kAttemptPrefix, kBlamePrefix}) {
      RETURN_IF_ERROR(Watch(scan.Each(prefix, [&](std::string_view key, std::string_view) {
        return ToStatus(batch.Delete(ToSlice(key)), "forgetting");
      })));
    }
    return Write(batch, true);
  }

  absl::Status Forget(std::span<const std::string> packages) override {
    rocksdb::WriteBatch batch;
    PrefixScan scan(*database_);
    for (const std::string& package : packages) {
      const auto remove = [&](std::string_view key, std::string_view) {
        return ToStatus(batch.Delete(ToSlice(key)), "forgetting");
      };
      ASSIGN_OR_RETURN(const IndexedByPlatform indexed, ReadIndexed(package, scan));
      for (const std::string& prefix : UnionOf(indexed))
        RETURN_IF_ERROR(ToStatus(batch.Delete(prefix + package), "forgetting"));
      RETURN_IF_ERROR(Watch(scan.Each(IndexedPrefix(package), remove)));
      RETURN_IF_ERROR(Watch(scan.Each(PackagePrefix(package), remove)));
      RETURN_IF_ERROR(ToStatus(batch.Delete(BlameKey(package)), "forgetting"));
    }
    return Write(batch, true);
  }

  absl::StatusOr<std::vector<UnsentResult>> Unsent() override {
    std::vector<UnsentResult> unsent;
    PrefixScan scan(*database_);
    RETURN_IF_ERROR(Watch(
        scan.Each(kUnsentPrefix, [&](std::string_view key, std::string_view value) -> absl::Status {
          const size_t end = key.find('\0');
          if (end == std::string_view::npos)
            return absl::DataLossError("the journal holds a malformed key");
          ASSIGN_OR_RETURN(UnsentResult one, DecodeUnsent(value));
          one.package.assign(key.substr(kUnsentPrefix.size(), end - kUnsentPrefix.size()));
          one.platform.assign(key.substr(end + 1));
          unsent.push_back(std::move(one));
          return absl::OkStatus();
        })));
    return unsent;
  }

  absl::Status ForgetUnsent(std::span<const UnsentResult> sent) override {
    base::MutexLock lock(unsent_mutex_);
    rocksdb::WriteBatch batch;
    for (const UnsentResult& one : sent) {
      const std::string key = UnsentKey(one.package, one.platform);
      std::string held;
      const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), key, &held);
      if (status.IsNotFound()) continue;
      RETURN_IF_ERROR(Watch(ToStatus(status, "reading the journal")));
      if (held != EncodeUnsent(one)) continue;
      RETURN_IF_ERROR(PutOrDelete(batch, key, false, {}));
    }
    return Write(batch, false);
  }

  void Fence(std::function<absl::Status()> may_write) override {
    fence_ = WriteFence(std::move(may_write));
  }

  bool WasEmpty() const override { return was_empty_; }

 private:
  using IndexedByPlatform = std::map<std::string, IndexEntries, std::less<>>;

  static absl::Status AddTo(RecordBuilder& builder, std::string_view key, std::string_view value) {
    const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
    if (!parts) return absl::DataLossError("the journal holds a malformed key");
    return Annotate(builder.Add(*parts, value), fmt::format("record of {}", parts->package));
  }

  absl::Status ScanPackages(const std::function<void(std::string_view, PackageRecord)>& visit) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> iterator(database_->NewIterator(options));
    RecordBuilder builder;
    std::string package;
    const auto finish = [&] {
      PackageRecord record = builder.Take();
      if (IsWorthTelling(record)) visit(package, std::move(record));
    };
    for (iterator->Seek("P"); iterator->Valid() && iterator->key().starts_with("P");
         iterator->Next()) {
      const std::optional<PackageKeyParts> parts = ParsePackageKey(ToView(iterator->key()));
      if (!parts) return absl::DataLossError("the journal holds a malformed key");
      if (parts->package != package) {
        finish();
        package.assign(parts->package);
      }
      RETURN_IF_ERROR(AddTo(builder, ToView(iterator->key()), ToView(iterator->value())));
    }
    RETURN_IF_ERROR(ToStatus(iterator->status(), "reading the journal"));
    finish();
    return absl::OkStatus();
  }

  absl::StatusOr<IndexedByPlatform> ReadIndexed(std::string_view package, PrefixScan& scan) {
    IndexedByPlatform indexed;
    const std::string prefix = IndexedPrefix(package);
    RETURN_IF_ERROR(
        Watch(scan.Each(prefix, [&](std::string_view key, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(indexed[std::string(key.substr(prefix.size()))],
                           DecodeIndexEntries(value));
          return absl::OkStatus();
        })));
    return indexed;
  }

  // What a package is indexed under on any of its platforms.
  static std::set<std::string> UnionOf(const IndexedByPlatform& indexed) {
    std::set<std::string> prefixes;
    for (const auto& [platform, entries] : indexed) {
      for (std::string& prefix : IndexPrefixes(entries)) prefixes.insert(std::move(prefix));
    }
    return prefixes;
  }

  // Index entries that hold for no platform any more go, new ones come. No `scan`: there are none.
  absl::Status Reindex(std::string_view package,
                       const std::map<std::string_view, const JournalUpdate*>& platforms,
                       PrefixScan* scan, Changes& changes) {
    IndexedByPlatform indexed;
    if (scan != nullptr) {
      ASSIGN_OR_RETURN(indexed, ReadIndexed(package, *scan));
    }
    const std::set<std::string> before = UnionOf(indexed);
    for (const auto& [platform, update] : platforms) {
      ASSIGN_OR_RETURN(IndexEntries entries, EntriesOf(*update));
      changes.Put(IndexedKey(package, platform), EncodeIndexEntries(entries));
      indexed[std::string(platform)] = std::move(entries);
    }
    const std::set<std::string> after = UnionOf(indexed);
    for (const std::string& prefix : before) {
      if (!after.contains(prefix)) changes.Delete(prefix + std::string(package));
    }
    for (const std::string& prefix : after) {
      if (!before.contains(prefix)) changes.Put(prefix + std::string(package), "");
    }
    return absl::OkStatus();
  }

  static absl::Status PutOrDelete(rocksdb::WriteBatch& batch, const std::string& key, bool is_there,
                                  std::string_view value) {
    return ToStatus(is_there ? batch.Put(key, ToSlice(value)) : batch.Delete(key),
                    "writing the journal");
  }

  static void PutPublished(Changes& changes, std::string_view package, std::string_view platform,
                           const std::optional<Digest>& key, const std::optional<PublishedIn>& in) {
    std::string at = PackageKey(package, kPublishedTag, platform);
    key ? changes.Put(std::move(at), EncodePublished({*key, in})) : changes.Delete(std::move(at));
  }

  static absl::Status PutRecord(const JournalUpdate& update, bool is_new, Changes& changes) {
    const PlatformRecord& record = update.record;
    std::string encoded;
    if (record::IsStrictlySorted(record.observed)) {
      encoded = EncodePlatformRecord(record);
    } else {
      PlatformRecord canonical = record;
      ASSIGN_OR_RETURN(canonical.observed, record::Canonical(std::move(canonical.observed)));
      encoded = EncodePlatformRecord(canonical);
    }
    const auto key = [&](char tag) { return PackageKey(update.package, tag, update.platform); };
    changes.Put(key(kRecordTag), std::move(encoded));
    // What may be there from before.
    if (!record.is_trusted) {
      changes.Put(key(kUntrustedTag), "");
    } else if (!is_new) {
      changes.Delete(key(kUntrustedTag));
    }
    if (!is_new) changes.Delete(key(kFailureTag));
    if (!is_new || record.published_key)
      PutPublished(changes, update.package, update.platform, record.published_key,
                   record.published_in);
    return absl::OkStatus();
  }

  static bool HoldsNoPackage(rocksdb::DB& database) {
    const std::unique_ptr<rocksdb::Iterator> first(database.NewIterator(rocksdb::ReadOptions()));
    first->Seek(ToSlice("P"));
    return first->status().ok() && (!first->Valid() || !first->key().starts_with(ToSlice("P")));
  }

  // True: nothing was ever recorded of the package. A first cook asks so for each, and need not
  // search. (By hashes: one that is another's too is searched for.)
  bool IsUnknown(std::string_view package) const {
    if (!was_empty_) return false;
    base::MutexLock lock(mutex_);
    return !recorded_.contains(std::hash<std::string_view>()(package));
  }
  void NoteKnown(std::string_view package) {
    if (!was_empty_) return;
    base::MutexLock lock(mutex_);
    recorded_.insert(std::hash<std::string_view>()(package));
  }

  absl::Status Write(Changes& changes, bool sync) {
    rocksdb::WriteBatch batch;
    RETURN_IF_ERROR(changes.AppendTo(batch));
    return Write(batch, sync);
  }

  absl::Status Write(rocksdb::WriteBatch& batch, bool sync) {
    if (options_.read_only)
      return absl::FailedPreconditionError("the journal was opened for reading only");
    if (batch.Count() == 0) return absl::OkStatus();
    RETURN_IF_ERROR(fence_.Check());
    RETURN_IF_ERROR(CheckSpace(state_directory_, options_, batch.GetDataSize()));
    rocksdb::WriteOptions options;
    options.sync = sync;
    return Watch(ToStatus(database_->Write(options, &batch), "writing the journal"));
  }

  // Damage once seen makes the next opening begin anew.
  absl::Status Watch(absl::Status status) {
    if (!absl::IsDataLoss(status) || options_.read_only) return status;
    MarkDamaged(state_directory_);
    return Annotate(status,
                    fmt::format("the journal in {} is damaged, the next start begins a new one",
                                state_directory_));
  }

  const std::string state_directory_;
  const JournalOptions options_;
  const std::unique_ptr<rocksdb::DB> database_;  // synchronises itself
  WriteFence fence_;
  JournalMeta meta_;  // the writing thread's
  // Held by whoever writes what is unsent: it is looked at before it is forgotten.
  base::Mutex unsent_mutex_;

  const bool was_empty_;  // when it was opened
  mutable base::Mutex mutex_;
  // Hashes of the packages of which something was recorded since, while was_empty_.
  absl::flat_hash_set<size_t> recorded_ GALLEY_GUARDED_BY(mutex_);
};

absl::StatusOr<JournalMeta> ReadMeta(rocksdb::DB& database) {
  std::string bytes;
  const rocksdb::Status status = database.Get(rocksdb::ReadOptions(), ToSlice(kMetaKey), &bytes);
  if (status.IsNotFound()) return JournalMeta();
  RETURN_IF_ERROR(ToStatus(status, "reading the journal"));
  return DecodeMeta(bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& state_directory,
                                                     const JournalOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<rocksdb::DB> database, OpenDatabase(state_directory, options));
  absl::StatusOr<JournalMeta> meta = ReadMeta(*database);
  if (absl::IsDataLoss(meta.status()) && !options.read_only) {
    database.reset();
    RETURN_IF_ERROR(MoveAside(state_directory, MessageOf(meta.status())));
    ASSIGN_OR_RETURN(database, OpenDatabase(state_directory, options));
    meta = JournalMeta();
  }
  if (!meta.ok()) return meta.status();
  return std::make_unique<RocksJournal>(state_directory, options, std::move(database),
                                        std::move(meta).value());
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& state_directory,
                                                       bool read_only) {
  return OpenJournal(state_directory, JournalOptions{.read_only = read_only});
}

}  // namespace galley::director
