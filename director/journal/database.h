// Database: opens the RocksDB under the journal, and moves an unusable database aside. Shares code
// with the index of a store in common/rocks. Included only by database.cc, live_database.h, look.cc
// and journal.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"

namespace galley::director {

struct JournalOptions {
  bool read_only = false;
  // A write begins only with this much free space beyond its own size: Debian's RocksDB 7.8 aborts
  // the process when a write to its log fails.
  uint64_t free_bytes_min = 64 << 20;
  // Returns the free space in bytes; empty: statvfs(3) of the state folder. For tests.
  std::function<uint64_t()> free_bytes;
};

// The key of the format version, a decimal number.
inline constexpr std::string_view kVersionKey = "v";

// RESOURCE_EXHAUSTED unless `bytes` and the margin are free on the disk of `directory`.
absl::Status CheckSpace(const std::string& directory, const JournalOptions& options,
                        uint64_t bytes);

std::string JournalDirectory(const std::string& state_directory);
// Marks the journal as damaged: the next OpenDatabase moves it aside.
void MarkDamaged(const std::string& state_directory);
// The file that MarkDamaged writes.
std::string DamagedMark(const std::string& state_directory);
// Renames the journal to journal.broken-<n>, with n above all others, and notes that (repairs.h).
// The newest three stay; older ones are removed if they hold only a database.
absl::Status MoveAside(const std::string& state_directory, std::string_view reason);

// Opens the database, or makes one of version kJournalFormatVersion. A database that is damaged,
// has another version, or differs from its seal (seal.h) is moved aside first.
absl::StatusOr<std::unique_ptr<rocksdb::DB>> OpenDatabase(const std::string& state_directory,
                                                          const JournalOptions& options);

}  // namespace galley::director
