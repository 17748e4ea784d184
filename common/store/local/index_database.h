// IndexDatabase: RocksDB on one folder, and what was found wrong in it.
//
// RocksDB opens files by their paths as long as it lives. It is given the path of a descriptor of
// the folder, so that the folder can be renamed under it: a damaged index is moved aside while
// others still read it.
//
// Errors: DATA_LOSS when something is wrong with the index itself, which damage() says from then
// on; all others are the machine's.
// Threads: any.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "rocksdb/db.h"

namespace galley::store {

class IndexDatabase {
 public:
  static constexpr size_t kKeysAtOnce = 256;

  // NOT_FOUND: there is none. DATA_LOSS: it is damaged, or no folder. Others: the machine's.
  static absl::StatusOr<std::unique_ptr<IndexDatabase>> Open(const std::string& path, bool create);

  rocksdb::DB& operator*() const { return *db_; }
  rocksdb::DB* operator->() const { return db_.get(); }

  // DATA_LOSS (it is damaged, and known to be from then on), or the machine's errors.
  absl::Status From(const rocksdb::Status& status);
  // A value that was read. What is wrong with it is damage.
  template <typename T>
  absl::StatusOr<T> Decoded(absl::StatusOr<T> value) {
    if (value.ok()) return value;
    return Damaged(MessageOf(value.status()));
  }
  // The database is damaged: the first thing that is said about the damage stays.
  absl::Status Damaged(std::string_view what);
  // Visits the value under each of at most kKeysAtOnce keys, in their order; nullopt: none.
  absl::Status GetMany(std::span<const rocksdb::Slice> keys,
                       absl::FunctionRef<absl::Status(std::optional<std::string_view>)> visit);
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
  IndexDatabase(std::string path, FileDescriptor folder)
      : folder_(std::move(folder)),
        alias_(fmt::format("/proc/self/fd/{}", folder_.get())),
        path_(std::move(path)) {}

  const FileDescriptor folder_;
  const std::string alias_;  // of the folder, whatever its name
  std::unique_ptr<rocksdb::DB> db_;
  mutable base::Mutex mutex_;
  std::string path_ GALLEY_GUARDED_BY(mutex_);
  absl::Status damage_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
