// LiveDatabase: the database of an open journal. When a call finds it damaged, it is moved aside
// and a new one is begun, and the call is made once more: what a journal knows costs look-ups,
// never a cook.
//
// A new one holds the last meta record and nothing else. So whoever was told of a record before may
// not be told of it again: made_anew() says that this happened.
//
// Threads: any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/shared_mutex.h"
#include "director/journal/database.h"
#include "director/journal/write_fence.h"

namespace galley::director {

class LiveDatabase {
 public:
  // `on_made_anew` is called while nobody else is in a call.
  LiveDatabase(std::string state_directory, const JournalOptions& options,
               std::unique_ptr<rocksdb::DB> database, std::function<void()> on_made_anew);
  // Closes it and seals its files (seal.h), unless another director has the project.
  ~LiveDatabase();

  // Returns what `work` returned. `work` may be called twice, and the second time of another
  // database: it begins anew each time. It does not call With. `work` says DATA_LOSS for damage.
  absl::Status With(const std::function<absl::Status(rocksdb::DB&)>& work);

  // Before other threads call.
  void Fence(WriteFence fence) { fence_ = std::move(fence); }
  absl::Status CheckFence() const { return fence_.Check(); }
  // Written into a database that is made anew. From one thread at a time.
  void KeepMeta(std::string encoded_meta);
  bool made_anew() const { return generation_ > 0; }

 private:
  absl::Status MakeAnew(uint64_t seen, std::string_view reason);

  const std::string state_directory_;
  const JournalOptions options_;
  const std::function<void()> on_made_anew_;
  WriteFence fence_;
  std::atomic<uint64_t> generation_ = 0;  // how often it was made anew

  base::SharedMutex mutex_;
  // Null: it could not be made anew, broken_ says why.
  std::unique_ptr<rocksdb::DB> database_ GALLEY_GUARDED_BY(mutex_);
  absl::Status broken_ GALLEY_GUARDED_BY(mutex_);

  std::atomic<bool> has_failed_ = false;  // some call

  base::Mutex meta_mutex_;  // after mutex_
  std::string meta_ GALLEY_GUARDED_BY(meta_mutex_);
};

}  // namespace galley::director
