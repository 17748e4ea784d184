// Journal: the journal over RocksDB. Its stored form: stored_journal.h.

#include "director/journal/journal.h"

#include <atomic>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "director/journal/encoding.h"
#include "director/journal/generation.h"
#include "director/journal/keys.h"
#include "director/journal/live_database.h"
#include "director/journal/rocks_journal.h"
#include "director/journal/stored_journal.h"
#include "rocksdb/write_batch.h"

namespace galley::director {
namespace {

absl::Status ToStatusOfRead(const rocksdb::Status& status) {
  return rocks::ToReadStatus(status, "reading the journal");
}

class RocksJournal final : public StoredJournal {
 public:
  RocksJournal(std::string state_directory, const JournalOptions& options,
               std::unique_ptr<rocksdb::DB> database, const JournalMeta& meta)
      : StoredJournal(meta),
        state_directory_(std::move(state_directory)),
        options_(options),
        is_new_(!options.read_only && HoldsNoPackage(*database)),
        database_(state_directory_, options_, std::move(database), [this] { NoteMadeAnew(); }) {
    database_.KeepMeta(EncodeMeta(meta));
  }

  absl::StatusOr<std::string> RelyOnGeneration() override {
    RETURN_IF_ERROR(database_.CheckFence());
    return generation_.Rely();
  }

  absl::Status Invalidate(std::span<const std::string> packages, const JournalMeta& meta) override {
    return InNewGeneration(!packages.empty(), "files came, went or changed", [&] {
      // Kept before it is written: another call may begin the journal anew at any time, and must
      // not do so with the earlier record.
      database_.KeepMeta(EncodeMeta(meta));
      return StoredJournal::Invalidate(packages, meta);
    });
  }

  absl::Status Record(std::span<const JournalUpdate> updates, bool sync) override {
    return InNewGeneration(!updates.empty(), "another cook had other results",
                           [&] { return StoredJournal::Record(updates, sync); });
  }

  absl::Status RecordFailures(std::span<const FailureUpdate> updates) override {
    return InNewGeneration(!updates.empty(), "packages failed in another cook",
                           [&] { return StoredJournal::RecordFailures(updates); });
  }

  absl::Status Forget(std::span<const std::string> packages) override {
    return InNewGeneration(true, "results were forgotten (`galley clean`)",
                           [&] { return StoredJournal::Forget(packages); });
  }

  void Fence(std::function<absl::Status()> may_write) override {
    database_.Fence(WriteFence(std::move(may_write)));
  }

  bool WasEmpty() const override { return is_new_; }
  bool MadeAnew() const override { return database_.made_anew(); }

 private:
  // The entries, as they were at the first Each or after it.
  class Entries final : public JournalEntries {
   public:
    Entries(RocksJournal& journal, rocksdb::DB& database)
        : journal_(journal), database_(database) {}

    absl::StatusOr<std::optional<std::string>> Get(const std::string& key) override {
      return rocks::Get(database_, key, ToStatusOfRead);
    }
    absl::Status Each(std::string_view prefix, Visit visit) override {
      if (!scan_.has_value()) scan_.emplace(database_, ToStatusOfRead);
      return scan_->Each(prefix, visit);
    }
    absl::Status EachOfMany(std::string_view prefix, Visit visit) override {
      return rocks::PrefixScan(database_, ToStatusOfRead, rocks::PastTheCache())
          .Each(prefix, visit);
    }
    absl::Status Write(const JournalChanges& changes, bool sync) override {
      return journal_.Write(database_, changes, sync);
    }

   private:
    RocksJournal& journal_;
    rocksdb::DB& database_;
    std::optional<rocks::PrefixScan> scan_;
  };

  absl::Status With(Work work) override {
    return database_.With([&](rocksdb::DB& database) {
      Entries entries(*this, database);
      return work(entries);
    });
  }

  static bool HoldsNoPackage(rocksdb::DB& database) {
    const std::unique_ptr<rocksdb::Iterator> first(database.NewIterator(rocksdb::ReadOptions()));
    first->Seek(rocks::ToSlice("P"));
    return first->status().ok() &&
           (!first->Valid() || !first->key().starts_with(rocks::ToSlice("P")));
  }

  // A first cook asks so for each package, and need not search. Compares hashes: a package with the
  // same hash as another is searched for.
  bool IsUnknown(std::string_view package) const override {
    if (!is_new_) return false;
    base::MutexLock lock(mutex_);
    return !recorded_.contains(std::hash<std::string_view>()(package));
  }
  void NoteKnown(std::string_view package) override {
    if (!is_new_) return;
    base::MutexLock lock(mutex_);
    recorded_.insert(std::hash<std::string_view>()(package));
  }
  void NoteMadeAnew() {
    base::MutexLock lock(mutex_);
    recorded_.clear();
    is_new_ = true;
  }

  // Makes a write that changes what the journal says. The generation's name moves before the write,
  // and again after it for whoever noted the new name meanwhile, which costs nothing when nobody
  // did.
  template <typename Write>
  absl::Status InNewGeneration(bool is_change, std::string_view why, const Write& write) {
    if (!is_change) return write();
    RETURN_IF_ERROR(MoveGeneration(why));
    const absl::Status written = write();
    if (const absl::Status moved = MoveGeneration(why); !moved.ok())
      LogWarning("journal: {}", MessageOf(moved));
    return written;
  }

  absl::Status MoveGeneration(std::string_view why) {
    if (options_.read_only) return absl::OkStatus();  // the write is refused
    RETURN_IF_ERROR(database_.CheckFence());
    return generation_.Move(why);
  }

  absl::Status Write(rocksdb::DB& database, const JournalChanges& changes, bool sync) {
    if (options_.read_only)
      return absl::FailedPreconditionError("the journal was opened for reading only");
    if (changes.empty()) return absl::OkStatus();
    rocksdb::WriteBatch batch(changes.bytes());
    for (const JournalChanges::Change* change : changes.InOrder()) {
      RETURN_IF_ERROR(rocks::ToStatus(
          change->value ? batch.Put(change->key, *change->value) : batch.Delete(change->key),
          "writing the journal"));
    }
    RETURN_IF_ERROR(database_.CheckFence());
    RETURN_IF_ERROR(CheckSpace(state_directory_, options_, batch.GetDataSize()));
    rocksdb::WriteOptions options;
    options.sync = sync;
    return rocks::ToReadStatus(database.Write(options, &batch), "writing the journal");
  }

  const std::string state_directory_;
  const JournalOptions options_;
  JournalGeneration generation_{state_directory_};

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
  return std::make_unique<RocksJournal>(state_directory, options, std::move(database), *meta);
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& state_directory,
                                                       bool read_only) {
  return OpenJournal(state_directory, JournalOptions{.read_only = read_only});
}

}  // namespace galley::director
