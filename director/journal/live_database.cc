#include "director/journal/live_database.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "director/journal/keys.h"
#include "director/journal/seal.h"

namespace galley::director {

std::unique_ptr<rocksdb::DB> OpenedDatabase::Close(const absl::Status& why) {
  const base::ExclusiveLock lock(mutex_);
  closed_ = why;
  return std::move(database_);
}

LiveDatabase::LiveDatabase(std::string state_directory, const JournalOptions& options,
                           std::unique_ptr<rocksdb::DB> database,
                           std::function<void()> on_made_anew)
    : Healing(std::make_shared<OpenedDatabase>(std::move(database))),
      state_directory_(std::move(state_directory)),
      options_(options),
      on_made_anew_(std::move(on_made_anew)) {}

LiveDatabase::~LiveDatabase() {
  std::unique_ptr<rocksdb::DB> database = Current()->Close(absl::CancelledError());
  if (database == nullptr) return;
  // Debian's RocksDB ends the program when a log that could not be written is synced.
  const rocksdb::Status synced = options_.read_only ? rocksdb::Status::OK()
                                 : has_failed_      ? rocksdb::Status::IOError()
                                                    : database->SyncWAL();
  const rocksdb::Status closed = database->Close();
  database.reset();
  if (options_.read_only || !synced.ok() || !closed.ok() || !fence_.Check().ok()) return;
  if (const absl::Status sealed = WriteSeal(JournalDirectory(state_directory_)); !sealed.ok())
    LogWarning("journal: {}", MessageOf(sealed));
}

void LiveDatabase::KeepMeta(std::string encoded_meta) {
  const base::MutexLock lock(meta_mutex_);
  meta_ = std::move(encoded_meta);
}

absl::Status LiveDatabase::Remake(OpenedDatabase& damaged, const absl::Status& damage) {
  if (options_.read_only)
    return DataLossError("{}: {}; the next cook begins a new journal",
                         JournalDirectory(state_directory_), MessageOf(damage));
  RETURN_IF_ERROR(fence_.Check());
  // Later calls wait for the new database, as if they had met the damage.
  damaged.Close(damage).reset();
  absl::StatusOr<std::unique_ptr<rocksdb::DB>> begun = BeginAnew(MessageOf(damage));
  if (!begun.ok()) {
    damaged.Close(begun.status());
    MarkDamaged(state_directory_);
    return begun.status();
  }
  on_made_anew_();
  made_anew_ = true;
  Replace(std::make_shared<OpenedDatabase>(*std::move(begun)));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<rocksdb::DB>> LiveDatabase::BeginAnew(std::string_view reason) {
  RETURN_IF_ERROR(MoveAside(state_directory_, reason));
  ASSIGN_OR_RETURN(std::unique_ptr<rocksdb::DB> database, OpenDatabase(state_directory_, options_));
  const base::MutexLock meta_lock(meta_mutex_);
  if (meta_.empty()) return database;
  rocksdb::WriteOptions synced;
  synced.sync = true;
  RETURN_IF_ERROR(rocks::ToStatus(database->Put(synced, rocks::ToSlice(kMetaKey), meta_),
                                  "beginning the journal anew"));
  return database;
}

}  // namespace galley::director
