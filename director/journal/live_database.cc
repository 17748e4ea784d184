#include "director/journal/live_database.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "director/journal/keys.h"
#include "director/journal/seal.h"
#include "fmt/format.h"

namespace galley::director {

LiveDatabase::LiveDatabase(std::string state_directory, const JournalOptions& options,
                           std::unique_ptr<rocksdb::DB> database,
                           std::function<void()> on_made_anew)
    : state_directory_(std::move(state_directory)),
      options_(options),
      on_made_anew_(std::move(on_made_anew)),
      database_(std::move(database)) {}

LiveDatabase::~LiveDatabase() {
  const base::ExclusiveLock lock(mutex_);
  if (database_ == nullptr) return;
  // (Debian's RocksDB ends the program when a log that could not be written is synced.)
  const rocksdb::Status synced = options_.read_only ? rocksdb::Status::OK()
                                 : has_failed_      ? rocksdb::Status::IOError()
                                                    : database_->SyncWAL();
  const rocksdb::Status closed = database_->Close();
  database_.reset();
  if (options_.read_only || !synced.ok() || !closed.ok() || !fence_.Check().ok()) return;
  if (const absl::Status sealed = WriteSeal(JournalDirectory(state_directory_)); !sealed.ok())
    LogWarning("journal: {}", MessageOf(sealed));
}

absl::Status LiveDatabase::With(const std::function<absl::Status(rocksdb::DB&)>& work) {
  uint64_t seen = 0;
  absl::Status status;
  {
    const base::SharedLock lock(mutex_);
    if (database_ == nullptr) return broken_;
    seen = generation_;
    status = work(*database_);
  }
  if (!status.ok()) has_failed_ = true;
  if (!absl::IsDataLoss(status)) return status;
  if (options_.read_only)
    return absl::DataLossError(fmt::format("{}: {}; the next cook begins a new journal",
                                           JournalDirectory(state_directory_), MessageOf(status)));
  RETURN_IF_ERROR(MakeAnew(seen, MessageOf(status)));
  const base::SharedLock lock(mutex_);
  return database_ == nullptr ? broken_ : work(*database_);
}

void LiveDatabase::KeepMeta(std::string encoded_meta) {
  const base::MutexLock lock(meta_mutex_);
  meta_ = std::move(encoded_meta);
}

absl::Status LiveDatabase::MakeAnew(uint64_t seen, std::string_view reason) {
  const base::ExclusiveLock lock(mutex_);
  if (generation_ != seen) return absl::OkStatus();  // somebody else did
  RETURN_IF_ERROR(fence_.Check());
  database_.reset();
  const auto begin = [&]() -> absl::Status {
    RETURN_IF_ERROR(MoveAside(state_directory_, reason));
    ASSIGN_OR_RETURN(database_, OpenDatabase(state_directory_, options_));
    const base::MutexLock meta_lock(meta_mutex_);
    if (meta_.empty()) return absl::OkStatus();
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return rocks::ToStatus(database_->Put(synced, rocks::ToSlice(kMetaKey), meta_),
                           "beginning the journal anew");
  };
  broken_ = begin();
  if (!broken_.ok()) {
    database_.reset();
    MarkDamaged(state_directory_);
    return broken_;
  }
  on_made_anew_();
  ++generation_;
  return absl::OkStatus();
}

}  // namespace galley::director
