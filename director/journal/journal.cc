// Journal: the journal over RocksDB. Keys: keys.h, index.h; the form of values: encoding.h.

#include "director/journal/journal.h"

#include <atomic>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/record/observed_value.h"
#include "common/rocks/rocks.h"
#include "director/journal/encoding.h"
#include "director/journal/generation.h"
#include "director/journal/index.h"
#include "director/journal/journal_changes.h"
#include "director/journal/keys.h"
#include "director/journal/live_database.h"
#include "director/journal/record_builder.h"
#include "director/journal/rocks_journal.h"
#include "fmt/format.h"
#include "rocksdb/write_batch.h"

namespace galley::director {
namespace {

absl::Status ToStatusOfRead(const rocksdb::Status& status) {
  return rocks::ToReadStatus(status, "reading the journal");
}

rocks::PrefixScan ScanOf(rocksdb::DB& database) { return {database, ToStatusOfRead}; }

class RocksJournal final : public Journal {
 public:
  RocksJournal(std::string state_directory, const JournalOptions& options,
               std::unique_ptr<rocksdb::DB> database, JournalMeta meta)
      : state_directory_(std::move(state_directory)),
        options_(options),
        meta_(std::move(meta)),
        is_new_(!options.read_only && HoldsNoPackage(*database)),
        database_(state_directory_, options_, std::move(database), [this] { NoteMadeAnew(); }) {
    database_.KeepMeta(EncodeMeta(meta_));
  }

  const JournalMeta& meta() const override { return meta_; }

  absl::Status SetMeta(const JournalMeta& meta) override { return Invalidate({}, meta); }

  absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) override {
    using Found = std::optional<PackageRecord>;
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<Found> {
      if (IsUnknown(package)) return Found();
      RecordBuilder builder;
      rocks::PrefixScan scan = ScanOf(database);
      RETURN_IF_ERROR(scan.Each(
          PackagePrefix(package),
          [&](std::string_view key, std::string_view value) { return builder.Add(key, value); }));
      return builder.Take();
    });
  }

  absl::StatusOr<std::string> RelyOnGeneration() override {
    RETURN_IF_ERROR(database_.CheckFence());
    return generation_.Rely();
  }

  absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) override {
    using Instigators = std::vector<InstigatorRecord>;
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<Instigators> {
      ASSIGN_OR_RETURN(const auto bytes, Get(database, PackageKey(package, kInstigatorsTag, {})));
      return bytes ? DecodeInstigators(*bytes) : Instigators();
    });
  }

  absl::Status ForEach(const std::function<void(std::string_view, PackageRecord)>& visit) override {
    return database_.With([&](rocksdb::DB& database) { return ScanPackages(database, visit); });
  }

  absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) override {
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<std::vector<std::string>> {
      std::set<std::string, std::less<>> affected;
      // Affected packages whose readers are still to be found.
      std::vector<std::string> readers_wanted;
      rocks::PrefixScan scan = ScanOf(database);
      const auto add = [&](std::string_view package) {
        const auto [where, is_new] = affected.emplace(package);
        if (is_new) readers_wanted.push_back(*where);
      };
      const auto take = [&](const std::string& prefix) {
        return scan.Each(prefix, [&](std::string_view key, std::string_view) {
          add(key.substr(prefix.size()));
          return absl::OkStatus();
        });
      };
      const AskedOfIndex asked_of_index = AskedBy(changes);
      for (const std::string& package : asked_of_index.packages) {
        RETURN_IF_ERROR(scan.Each(RecordPrefix(package), [&](std::string_view, std::string_view) {
          add(package);
          return absl::OkStatus();
        }));
      }
      for (const auto& [prefix, names] : asked_of_index.beside) {
        RETURN_IF_ERROR(scan.Each(prefix, [&](std::string_view key, std::string_view value) {
          if (MayMeet(value, names)) add(key.substr(prefix.size()));
          return absl::OkStatus();
        }));
      }
      for (const std::string& prefix : asked_of_index.prefixes) RETURN_IF_ERROR(take(prefix));
      while (!readers_wanted.empty()) {
        const std::string package = std::move(readers_wanted.back());
        readers_wanted.pop_back();
        RETURN_IF_ERROR(take(IndexPrefix(kCookedKind, package)));
      }
      return std::vector<std::string>(affected.begin(), affected.end());
    });
  }

  absl::Status Invalidate(std::span<const std::string> packages, const JournalMeta& meta) override {
    const NewGeneration generation(*this, !packages.empty(), "files came, went or changed");
    RETURN_IF_ERROR(generation.status());
    const absl::Status asked = database_.With([&](rocksdb::DB& database) -> absl::Status {
      rocksdb::WriteBatch batch;
      rocks::PrefixScan scan = ScanOf(database);
      for (const std::string& package : packages) {
        const std::string prefix = RecordPrefix(package);
        RETURN_IF_ERROR(scan.Each(prefix, [&](std::string_view key, std::string_view) {
          return rocks::ToStatus(
              batch.Put(PackageKey(package, kUntrustedTag, key.substr(prefix.size())), ""),
              "marking records untrusted");
        }));
        RETURN_IF_ERROR(rocks::ToStatus(batch.Delete(BlameKey(package)), "forgiving"));
      }
      RETURN_IF_ERROR(rocks::ToStatus(batch.Put(rocks::ToSlice(kMetaKey), EncodeMeta(meta)),
                                      "recording the meta record"));
      // Kept before it is written: another call may begin the journal anew at any time, and must
      // not do so with the earlier record.
      database_.KeepMeta(EncodeMeta(meta));
      return Write(database, batch, true);
    });
    RETURN_IF_ERROR(asked);
    meta_ = meta;
    return absl::OkStatus();
  }

  absl::Status Record(std::span<const JournalUpdate> updates, bool sync) override {
    const NewGeneration generation(*this, !updates.empty(), "another cook had other results");
    RETURN_IF_ERROR(generation.status());
    // By package, then platform; the later of two updates of one record holds.
    UpdatesByPackage by_package;
    for (const JournalUpdate& update : updates) {
      RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
      RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
      by_package[update.package][update.platform] = &update;
    }
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      JournalChanges changes;
      rocks::PrefixScan scan = ScanOf(database);
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
      return Write(database, changes, sync);
    });
  }

  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override {
    const NewGeneration generation(*this, !updates.empty(), "packages failed in another cook");
    RETURN_IF_ERROR(generation.status());
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      rocksdb::WriteBatch batch;
      for (const FailureUpdate& update : updates) {
        RETURN_IF_ERROR(CheckKeyPart("package name", update.package));
        RETURN_IF_ERROR(CheckKeyPart("platform name", update.platform));
        NoteKnown(update.package);
        RETURN_IF_ERROR(
            PutOrDelete(batch, PackageKey(update.package, kFailureTag, update.platform),
                        update.failure.has_value(),
                        update.failure ? EncodeFailure(*update.failure) : std::string()));
      }
      return Write(database, batch, false);
    });
  }

  absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) override {
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      rocksdb::WriteBatch batch;
      for (const auto& [package, instigators] : updates) {
        RETURN_IF_ERROR(CheckKeyPart("package name", package));
        NoteKnown(package);
        RETURN_IF_ERROR(PutOrDelete(batch, PackageKey(package, kInstigatorsTag, {}),
                                    !instigators.empty(), EncodeInstigators(instigators)));
      }
      return Write(database, batch, false);
    });
  }

  absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) override {
    RETURN_IF_ERROR(CheckKeyPart("platform name", platform));
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      JournalChanges changes;
      for (const auto& [package, key] : keys) {
        RETURN_IF_ERROR(CheckKeyPart("package name", package));
        NoteKnown(package);
        PutPublished(changes, package, platform, key, in);
      }
      changes.Put(PublishedSequenceKey(platform), EncodeLastPublished(in));
      return Write(database, changes, true);
    });
  }

  absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) override {
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<std::vector<std::string>> {
      std::vector<std::string> packages;
      rocks::PrefixScan scan(database, ToStatusOfRead, rocks::PastTheCache());
      RETURN_IF_ERROR(scan.Each("P", [&](std::string_view key, std::string_view) -> absl::Status {
        const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
        if (!parts) return absl::DataLossError("the journal holds a malformed key");
        if (parts->tag == kPublishedTag && parts->platform == platform)
          packages.emplace_back(parts->package);
        return absl::OkStatus();
      }));
      return packages;
    });
  }

  absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) override {
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<PublishedIn> {
      ASSIGN_OR_RETURN(const auto bytes, Get(database, PublishedSequenceKey(platform)));
      return bytes ? DecodeLastPublished(*bytes) : PublishedIn();
    });
  }

  absl::Status RecordProgress(const JournalProgress& progress) override {
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
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
      return Write(database, batch, false);
    });
  }

  absl::StatusOr<JournalProgress> Progress() override {
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<JournalProgress> {
      JournalProgress progress;
      rocks::PrefixScan scan = ScanOf(database);
      const auto add_attempt = [&](std::string_view key, std::string_view value) -> absl::Status {
        const std::optional<uint64_t> attempt = ParseAttemptKey(key);
        if (!attempt) return absl::DataLossError("the journal holds a malformed key");
        ASSIGN_OR_RETURN(AttemptRecord record, DecodeAttempt(value));
        record.attempt = *attempt;
        progress.given.push_back(std::move(record));
        return absl::OkStatus();
      };
      RETURN_IF_ERROR(scan.Each(kAttemptPrefix, add_attempt));
      const auto add_blame = [&](std::string_view key, std::string_view value) -> absl::Status {
        ASSIGN_OR_RETURN(BlameRecord blame, DecodeBlame(value));
        blame.package.assign(key.substr(kBlamePrefix.size()));
        progress.blamed.push_back(std::move(blame));
        return absl::OkStatus();
      };
      RETURN_IF_ERROR(scan.Each(kBlamePrefix, add_blame));
      return progress;
    });
  }

  absl::Status ForgetProgress() override {
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      rocksdb::WriteBatch batch;
      rocks::PrefixScan scan = ScanOf(database);
      for (const std::string_view prefix : {kAttemptPrefix, kBlamePrefix}) {
        RETURN_IF_ERROR(scan.Each(prefix, [&](std::string_view key, std::string_view) {
          return rocks::ToStatus(batch.Delete(rocks::ToSlice(key)), "forgetting");
        }));
      }
      return Write(database, batch, true);
    });
  }

  absl::Status Forget(std::span<const std::string> packages) override {
    const NewGeneration generation(*this, true, "results were forgotten (`galley clean`)");
    RETURN_IF_ERROR(generation.status());
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      rocksdb::WriteBatch batch;
      rocks::PrefixScan scan = ScanOf(database);
      for (const std::string& package : packages) {
        const auto remove = [&](std::string_view key, std::string_view) {
          return rocks::ToStatus(batch.Delete(rocks::ToSlice(key)), "forgetting");
        };
        ASSIGN_OR_RETURN(const Indexed indexed, ReadIndexed(package, {}, scan));
        for (const auto& [key, value] : IndexRecordsOf(package, indexed.all))
          RETURN_IF_ERROR(rocks::ToStatus(batch.Delete(key), "forgetting"));
        RETURN_IF_ERROR(scan.Each(PackagePrefix(package), remove));
        RETURN_IF_ERROR(rocks::ToStatus(batch.Delete(BlameKey(package)), "forgetting"));
      }
      return Write(database, batch, true);
    });
  }

  absl::StatusOr<std::vector<UnsentResult>> Unsent() override {
    return database_.With([&](rocksdb::DB& database) -> absl::StatusOr<std::vector<UnsentResult>> {
      std::vector<UnsentResult> unsent;
      const auto add = [&](std::string_view key, std::string_view value) -> absl::Status {
        const size_t end = key.find('\0');
        if (end == std::string_view::npos)
          return absl::DataLossError("the journal holds a malformed key");
        ASSIGN_OR_RETURN(UnsentResult one, DecodeUnsent(value));
        one.package.assign(key.substr(kUnsentPrefix.size(), end - kUnsentPrefix.size()));
        one.platform.assign(key.substr(end + 1));
        unsent.push_back(std::move(one));
        return absl::OkStatus();
      };
      rocks::PrefixScan scan = ScanOf(database);
      RETURN_IF_ERROR(scan.Each(kUnsentPrefix, add));
      return unsent;
    });
  }

  absl::Status ForgetUnsent(std::span<const UnsentResult> sent) override {
    return database_.With([&](rocksdb::DB& database) -> absl::Status {
      base::MutexLock lock(unsent_mutex_);
      rocksdb::WriteBatch batch;
      for (const UnsentResult& one : sent) {
        const std::string key = UnsentKey(one.package, one.platform);
        ASSIGN_OR_RETURN(const auto held, Get(database, key));
        if (held != EncodeUnsent(one)) continue;
        RETURN_IF_ERROR(PutOrDelete(batch, key, false, {}));
      }
      return Write(database, batch, false);
    });
  }

  void Fence(std::function<absl::Status()> may_write) override {
    database_.Fence(WriteFence(std::move(may_write)));
  }

  bool WasEmpty() const override { return is_new_; }
  bool MadeAnew() const override { return database_.made_anew(); }

 private:
  using UpdatesOfPackage = std::map<std::string_view, const JournalUpdate*>;  // by platform
  using UpdatesByPackage = std::map<std::string_view, UpdatesOfPackage>;

  // Returns the common beginning of the keys of a package's records; the platform follows.
  static std::string RecordPrefix(std::string_view package) {
    return PackageKey(package, kRecordTag, {});
  }

  static absl::StatusOr<std::optional<std::string>> Get(rocksdb::DB& database,
                                                        const std::string& key) {
    return rocks::Get(database, key, ToStatusOfRead);
  }

  static absl::Status ScanPackages(
      rocksdb::DB& database, const std::function<void(std::string_view, PackageRecord)>& visit) {
    RecordBuilder builder;
    std::string package;
    const auto finish = [&] {
      if (std::optional<PackageRecord> record = builder.Take(); record.has_value())
        visit(package, *std::move(record));
    };
    rocks::PrefixScan scan(database, ToStatusOfRead, rocks::PastTheCache());
    RETURN_IF_ERROR(scan.Each("P", [&](std::string_view key, std::string_view value) {
      const std::optional<PackageKeyParts> parts = ParsePackageKey(key);
      if (!parts) return absl::DataLossError("the journal holds a malformed key");
      if (parts->package != package) {
        finish();
        package.assign(parts->package);
      }
      return builder.Add(key, value);
    }));
    finish();
    return absl::OkStatus();
  }

  // Indexed: the subjects under which the records of a package are indexed.
  struct Indexed {
    IndexEntries all;
    IndexEntries kept;  // of the platforms that are not in `updates`
  };
  static absl::StatusOr<Indexed> ReadIndexed(std::string_view package,
                                             const UpdatesOfPackage& updates,
                                             rocks::PrefixScan& scan) {
    Indexed indexed;
    const std::string prefix = RecordPrefix(package);
    RETURN_IF_ERROR(
        scan.Each(prefix, [&](std::string_view key, std::string_view value) -> absl::Status {
          ASSIGN_OR_RETURN(const PlatformRecord record, DecodePlatformRecord(value));
          AddEntriesOf(package, record.observed, indexed.all);
          if (!updates.contains(key.substr(prefix.size())))
            AddEntriesOf(package, record.observed, indexed.kept);
          return absl::OkStatus();
        }));
    return indexed;
  }

  // Removes index entries that hold for no platform any more, and adds new entries. No `scan`:
  // there are no entries.
  static absl::Status Reindex(std::string_view package, const UpdatesOfPackage& updates,
                              rocks::PrefixScan* scan, JournalChanges& changes) {
    Indexed indexed;
    if (scan != nullptr) {
      ASSIGN_OR_RETURN(indexed, ReadIndexed(package, updates, *scan));
    }
    const std::map<std::string, std::string> before = IndexRecordsOf(package, indexed.all);
    IndexEntries& entries = indexed.kept;
    for (const auto& [platform, update] : updates)
      AddEntriesOf(package, update->record.observed, entries);
    std::map<std::string, std::string> after = IndexRecordsOf(package, entries);
    for (const auto& [key, value] : before) {
      if (!after.contains(key)) changes.Delete(key);
    }
    for (auto& [key, value] : after) {
      const auto old = before.find(key);
      if (old == before.end() || old->second != value) changes.Put(key, std::move(value));
    }
    return absl::OkStatus();
  }

  static absl::Status PutOrDelete(rocksdb::WriteBatch& batch, const std::string& key, bool is_there,
                                  std::string_view value) {
    return rocks::ToStatus(is_there ? batch.Put(key, rocks::ToSlice(value)) : batch.Delete(key),
                           "writing the journal");
  }

  static void PutPublished(JournalChanges& changes, std::string_view package,
                           std::string_view platform, const std::optional<Digest>& key,
                           const std::optional<PublishedIn>& in) {
    std::string at = PackageKey(package, kPublishedTag, platform);
    key ? changes.Put(std::move(at), EncodePublished({*key, in})) : changes.Delete(std::move(at));
  }

  static absl::Status PutRecord(const JournalUpdate& update, bool is_new, JournalChanges& changes) {
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
    // Removes the key of an earlier record, if there is one.
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
    first->Seek(rocks::ToSlice("P"));
    return first->status().ok() &&
           (!first->Valid() || !first->key().starts_with(rocks::ToSlice("P")));
  }

  // Returns true when nothing was ever recorded of the package. A first cook asks so for each
  // package, and need not search. Compares hashes: a package with the same hash as another is
  // searched for.
  bool IsUnknown(std::string_view package) const {
    if (!is_new_) return false;
    base::MutexLock lock(mutex_);
    return !recorded_.contains(std::hash<std::string_view>()(package));
  }
  void NoteKnown(std::string_view package) {
    if (!is_new_) return;
    base::MutexLock lock(mutex_);
    recorded_.insert(std::hash<std::string_view>()(package));
  }
  void NoteMadeAnew() {
    base::MutexLock lock(mutex_);
    recorded_.clear();
    is_new_ = true;
  }

  // NewGeneration: around a write. The name moves before the write, and again after it for whoever
  // noted the new name meanwhile, which costs nothing when nobody did.
  class NewGeneration {
   public:
    NewGeneration(RocksJournal& journal, bool is_change, std::string_view why)
        : journal_(journal),
          is_change_(is_change),
          why_(why),
          status_(is_change ? journal.MoveGeneration(why) : absl::OkStatus()) {}
    ~NewGeneration() {
      if (!is_change_) return;
      if (const absl::Status moved = journal_.MoveGeneration(why_); !moved.ok())
        LogWarning("journal: {}", MessageOf(moved));
    }
    NewGeneration(const NewGeneration&) = delete;
    NewGeneration& operator=(const NewGeneration&) = delete;
    const absl::Status& status() const { return status_; }

   private:
    RocksJournal& journal_;
    const bool is_change_;
    const std::string_view why_;
    const absl::Status status_;
  };

  absl::Status MoveGeneration(std::string_view why) {
    if (options_.read_only) return absl::OkStatus();  // the write is refused
    RETURN_IF_ERROR(database_.CheckFence());
    return generation_.Move(why);
  }

  absl::Status Write(rocksdb::DB& database, JournalChanges& changes, bool sync) {
    rocksdb::WriteBatch batch(changes.bytes());
    RETURN_IF_ERROR(changes.AppendTo(batch));
    return Write(database, batch, sync);
  }

  absl::Status Write(rocksdb::DB& database, rocksdb::WriteBatch& batch, bool sync) {
    if (options_.read_only)
      return absl::FailedPreconditionError("the journal was opened for reading only");
    if (batch.Count() == 0) return absl::OkStatus();
    RETURN_IF_ERROR(database_.CheckFence());
    RETURN_IF_ERROR(CheckSpace(state_directory_, options_, batch.GetDataSize()));
    rocksdb::WriteOptions options;
    options.sync = sync;
    return rocks::ToReadStatus(database.Write(options, &batch), "writing the journal");
  }

  const std::string state_directory_;
  const JournalOptions options_;
  JournalMeta meta_;  // used by the writing thread
  JournalGeneration generation_{state_directory_};
  // Held during writes of unsent results: an unsent result is looked at before it is forgotten.
  base::Mutex unsent_mutex_;

  std::atomic<bool> is_new_;  // no package was known at the opening, or the journal was made anew
  mutable base::Mutex mutex_;
  // Hashes of the packages that were recorded since, while is_new_.
  absl::flat_hash_set<size_t> recorded_ GALLEY_GUARDED_BY(mutex_);
  LiveDatabase database_;
};

absl::StatusOr<JournalMeta> ReadMeta(rocksdb::DB& database) {
  ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                   rocks::Get(database, kMetaKey, ToStatusOfRead));
  if (!bytes.has_value()) return JournalMeta();
  return DecodeMeta(*bytes);
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
