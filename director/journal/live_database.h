// LiveDatabase: the database of an open journal, which heals (common/rocks/healing.h). If a call
// finds the database damaged, the database is moved aside, a new one is begun, and the call is
// repeated: a lost journal costs look-ups, never a cook.
//
// A new database holds only the last meta record, so records that a caller has read may be gone:
// made_anew() tells that.
//
// Threads: any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/shared_mutex.h"
#include "common/rocks/healing.h"
#include "director/journal/database.h"
#include "director/journal/write_fence.h"

namespace galley::director {

// OpenedDatabase: a database that Close closes when no call uses it.
class OpenedDatabase {
 public:
  explicit OpenedDatabase(std::unique_ptr<rocksdb::DB> database) : database_(std::move(database)) {}

  // Returns the result of `work`; after Close: the status that Close got.
  template <typename Work>
  std::invoke_result_t<const Work&, rocksdb::DB&> Use(const Work& work) {
    const base::SharedLock lock(mutex_);
    if (database_ == nullptr) return closed_;
    return work(*database_);
  }
  // Waits for running calls, and returns the database, which the caller closes. Later calls get
  // `why`.
  std::unique_ptr<rocksdb::DB> Close(const absl::Status& why);

 private:
  base::SharedMutex mutex_;
  std::unique_ptr<rocksdb::DB> database_ GALLEY_GUARDED_BY(mutex_);  // null: closed
  absl::Status closed_ GALLEY_GUARDED_BY(mutex_);
};

class LiveDatabase final : private rocks::Healing<OpenedDatabase> {
 public:
  // `on_made_anew`: called while no other call runs.
  LiveDatabase(std::string state_directory, const JournalOptions& options,
               std::unique_ptr<rocksdb::DB> database, std::function<void()> on_made_anew);
  // Closes the database and seals its files (seal.h), unless another director has the project.
  ~LiveDatabase() override;

  // Like Healing::With, for the database itself. `work` must not call With.
  template <typename Work>
  std::invoke_result_t<const Work&, rocksdb::DB&> With(const Work& work) {
    return Healing::With([&](OpenedDatabase& opened) {
      auto answer = opened.Use(work);
      if (!answer.ok()) has_failed_ = true;
      return answer;
    });
  }

  // REQUIRES: no other thread calls yet.
  void Fence(WriteFence fence) { fence_ = std::move(fence); }
  absl::Status CheckFence() const { return fence_.Check(); }
  // Keeps the meta record for a database that is made anew. Threads: one at a time.
  void KeepMeta(std::string encoded_meta);
  bool made_anew() const { return made_anew_; }

 private:
  absl::Status Remake(OpenedDatabase& damaged, const absl::Status& damage) override
      GALLEY_REQUIRES(heal_mutex_);
  absl::StatusOr<std::unique_ptr<rocksdb::DB>> BeginAnew(std::string_view reason);

  const std::string state_directory_;
  const JournalOptions options_;
  const std::function<void()> on_made_anew_;
  WriteFence fence_;
  std::atomic<bool> made_anew_ = false;
  std::atomic<bool> has_failed_ = false;  // a call failed

  base::Mutex meta_mutex_;  // locked after heal_mutex_
  std::string meta_ GALLEY_GUARDED_BY(meta_mutex_);
};

}  // namespace galley::director
