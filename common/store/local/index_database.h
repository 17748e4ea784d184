// IndexDatabase: RocksDB on one folder, and the damage that was found in it.
//
// RocksDB opens files by path as long as it lives. It gets the path of a descriptor of the folder,
// so that the folder can be renamed: a damaged index is moved aside while calls still read it.
//
// Errors: DATA_LOSS: the index itself is damaged, and damage() says so from then on; all others are
// the machine's.
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

  // NOT_FOUND: there is no database. DATA_LOSS: it is damaged, or no folder. Other errors: the
  // machine's.
  static absl::StatusOr<std::unique_ptr<IndexDatabase>> Open(const std::string& path, bool create);

  rocksdb::DB& operator*() const { return *db_; }
  rocksdb::DB* operator->() const { return db_.get(); }

  // Converts a status of RocksDB; notes damage if it is DATA_LOSS.
  absl::Status From(const rocksdb::Status& status);
  // Returns a value that was read and decoded; an error of decoding is damage.
  template <typename T>
  absl::StatusOr<T> Decoded(absl::StatusOr<T> value) {
    if (value.ok()) return value;
    return Damaged(MessageOf(value.status()));
  }
  // Notes damage, unless damage is known already; returns DATA_LOSS.
  absl::Status Damaged(std::string_view what);
  // Visits the values of at most kKeysAtOnce keys, in their order; nullopt: no value.
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
  const std::string alias_;  // path of the folder, whatever its name
  std::unique_ptr<rocksdb::DB> db_;
  mutable base::Mutex mutex_;
  std::string path_ GALLEY_GUARDED_BY(mutex_);
  absl::Status damage_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
