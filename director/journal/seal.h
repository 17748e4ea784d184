// JournalSeal: what the files of a journal's database were when it was closed, in the file SEAL
// beside them (sealed text, docs/formats.md).
//
// RocksDB takes a log or a manifest whose end is damaged for one that was never written to its end,
// and so may open with its newest records missing, or some in the middle: a record that was found
// untrusted would be trusted again. So the files must be those that the seal names: logs, manifest
// and CURRENT by digest, tables by size (each of their blocks has a checksum). While the database
// is open for writing the seal names CURRENT and the manifest as it began, to which RocksDB
// appends: of a director that was killed the rest is as RocksDB finds it. (A log loses its end
// then, which takes back the newest writes in their order; that the manifest's beginning is whole
// says that nothing before them is missing.)
//
// Threads: none; what writes is under the project's lock.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::director {

inline constexpr std::string_view kSealName = "SEAL";

// After the database was closed, and its log synced: a seal that outlives the end of a log in a
// power cut would take a whole journal for a damaged one.
absl::Status WriteSeal(const std::string& journal_directory);

// OK: there is none (an empty one is what a power cut left), or the files are those that it names.
// DATA_LOSS: what is wrong, for people. RESOURCE_EXHAUSTED: nobody can tell now. It changes
// nothing.
absl::Status CheckSeal(const std::string& journal_directory);

// After the database was opened for writing.
absl::Status WriteOpenSeal(const std::string& journal_directory);

absl::Status RemoveSeal(const std::string& journal_directory);

// A name that RocksDB gives to one of its files, or the seal.
bool IsJournalFileName(std::string_view name);

}  // namespace galley::director
