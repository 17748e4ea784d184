// Functions for the two users of RocksDB: the index of a store (common/store/local) and the journal
// of a project (director/journal). Both databases can be derived again, so both users tell an error
// of the machine, which passes, from damage of the files, which a new database cures.
//
// Threads: any, but for PrefixScan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "rocksdb/db.h"

namespace galley::rocks {

inline rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// The options that both users share; each user adds its own.
rocksdb::Options SharedOptions();

// True: the error is not in the stored bytes but in what this process may use now (space, memory,
// descriptors, another process that has the database). Making the files anew would not help.
bool IsOfMachine(const rocksdb::Status& status);

// DATA_LOSS for corruption, RESOURCE_EXHAUSTED for no space, UNAVAILABLE when another process has
// the database.
absl::Status ToStatus(const rocksdb::Status& status, std::string_view what);
// For reads and writes of an open database. DATA_LOSS: damage that a new database cures: wrong
// bytes, a file that is gone, is a folder or may not be read. Else as ToStatus.
absl::Status ToReadStatus(const rocksdb::Status& status, std::string_view what);

// Turns a status of RocksDB into an absl::Status.
using Convert = std::function<absl::Status(const rocksdb::Status& status)>;

// The value under a key; nullopt: none.
absl::StatusOr<std::optional<std::string>> Get(rocksdb::DB& database, std::string_view key,
                                               const Convert& convert);

// Renames the folder of a database, or whatever lies in its place, and returns its new path
// (PutAside in common/base/own_file.h). Of the databases with `may_remove(path)` that were moved
// aside, only the newest kBrokenFilesMax stay. NOT_FOUND: there is no database.
absl::StatusOr<std::string> MoveAside(const std::string& path,
                                      absl::FunctionRef<bool(const std::string&)> may_remove);
// Removes a database that was moved aside, even a folder without write permission. If this fails,
// the database stays, and the failure is logged.
void RemoveAside(const std::string& path);

// Opens a database for a look, which changes nothing in its folder, and verifies the checksums of
// all its files. Null in `database`: it could not be opened.
rocksdb::Status OpenForLook(const std::string& path, std::unique_ptr<rocksdb::DB>& database);

// PrefixScan: walks the keys that begin with a prefix, one prefix after the other, as they were
// when the scan was made.
// Threads: one.
class PrefixScan {
 public:
  PrefixScan(rocksdb::DB& database, Convert convert, const rocksdb::ReadOptions& options = {})
      : convert_(std::move(convert)), iterator_(database.NewIterator(options)) {}

  // Calls `visit(key, value)`, which returns a Status, for each key in order. An error ends the
  // scan.
  template <typename Visit>
  absl::Status Each(std::string_view prefix, const Visit& visit) {
    return EachFrom(prefix, prefix, SIZE_MAX, visit);
  }
  // Calls `visit` for at most `keys_max` keys with the prefix, from the first key that is not
  // before `from`.
  template <typename Visit>
  absl::Status EachFrom(std::string_view from, std::string_view prefix, size_t keys_max,
                        const Visit& visit) {
    for (iterator_->Seek(ToSlice(from)); keys_max != 0 && iterator_->Valid();
         iterator_->Next(), --keys_max) {
      const std::string_view key = ToView(iterator_->key());
      if (!key.starts_with(prefix)) break;
      RETURN_IF_ERROR(visit(key, ToView(iterator_->value())));
    }
    return convert_(iterator_->status());
  }

 private:
  const Convert convert_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Options of a scan that is so large that it would push everything else out of the cache.
rocksdb::ReadOptions PastTheCache();

}  // namespace galley::rocks
