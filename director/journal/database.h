// The RocksDB under the journal: opening it, and moving aside what cannot be used. (What it shares
// with the index of a store is common/rocks.) Included by database.cc, live_database.h, look.cc and
// journal.cc only.
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
  // Debian's RocksDB 7.8 aborts the process when a write to its log fails, so a write begins only
  // with this much space beside its own.
  uint64_t free_bytes_min = 64 << 20;
  // The free space; empty: statvfs(3) of the state folder. For tests.
  std::function<uint64_t()> free_bytes;
};

// The key of the format version, a decimal number.
inline constexpr std::string_view kVersionKey = "v";

// RESOURCE_EXHAUSTED unless `bytes` and the margin are free where `directory` lies.
absl::Status CheckSpace(const std::string& directory, const JournalOptions& options,
                        uint64_t bytes);

std::string JournalDirectory(const std::string& state_directory);
// Makes the next opening move the journal aside.
void MarkDamaged(const std::string& state_directory);
// The file that MarkDamaged leaves: the next opening moves the journal aside.
std::string DamagedMark(const std::string& state_directory);
// Renames the journal to journal.broken-<n>, n higher than that of all others, and notes it
// (healed.h). The newest three stay: of those that hold nothing but a database, older ones are
// removed.
absl::Status MoveAside(const std::string& state_directory, std::string_view reason);

// Opens or makes the database; its version is kJournalFormatVersion. What is damaged, of another
// version or not as it was sealed (seal.h) is moved aside.
absl::StatusOr<std::unique_ptr<rocksdb::DB>> OpenDatabase(const std::string& state_directory,
                                                          const JournalOptions& options);

}  // namespace galley::director
