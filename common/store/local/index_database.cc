#include "common/store/local/index_database.h"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "common/base/errors.h"
#include "common/rocks/rocks.h"
#include "rocksdb/cache.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"

namespace galley::store {
namespace {

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

absl::Status OpenError(int error, const std::string& path) {
  if (error == ENOENT) return absl::NotFoundError("it is gone");
  if (error == ENOTDIR) return absl::DataLossError("it is no folder");
  if (error == EACCES) return absl::DataLossError("it may not be read");
  return ErrnoStatus(error, "open", path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<IndexDatabase>> IndexDatabase::Open(const std::string& path,
                                                                   bool create) {
  FileDescriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return OpenError(errno, path);
  auto database = std::unique_ptr<IndexDatabase>(new IndexDatabase(path, std::move(folder)));
  if (!FileExists(database->alias_)) {
    return FailedPreconditionError("index {}: {} is not there: mount /proc", path,
                                   database->alias_);
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

absl::Status IndexDatabase::From(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  std::string text = status.ToString();
  for (size_t at = 0; (at = text.find(alias_, at)) != std::string::npos;)
    text.replace(at, alias_.size(), "index");
  if (!rocks::IsOfMachine(status)) return Damaged(text);
  const std::string message = fmt::format("index {}: {}", path(), text);
  return status.IsBusy() || status.IsTryAgain() ? absl::InternalError(message)
                                                : absl::ResourceExhaustedError(message);
}

absl::Status IndexDatabase::Damaged(std::string_view what) {
  const base::MutexLock lock(mutex_);
  const absl::Status status = absl::DataLossError(std::string(what));
  if (damage_.ok()) damage_ = status;
  return status;
}

absl::Status IndexDatabase::GetMany(
    std::span<const rocksdb::Slice> keys,
    absl::FunctionRef<absl::Status(std::optional<std::string_view>)> visit) {
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(),
                values.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool absent = statuses[i].IsNotFound();
    if (!absent) RETURN_IF_ERROR(From(statuses[i]));
    RETURN_IF_ERROR(visit(absent ? std::nullopt : std::optional(rocks::ToView(values[i]))));
  }
  return absl::OkStatus();
}

}  // namespace galley::store
