// JournalSeal: the state of a journal's database files when the database was closed, in the file
// SEAL beside them (sealed text, docs/formats.md).
//
// RocksDB takes a log or a manifest whose end is damaged for a file that was never written to its
// end, and so may open with its newest records missing, or some in the middle: a record that was
// found untrusted would be trusted again. So the files must be those that the seal names: logs,
// manifest and CURRENT by digest, tables by size (each of their blocks has a checksum). While the
// database is open for writing the seal names CURRENT and the start of the manifest, to which
// RocksDB appends: after a kill of the director the rest is as RocksDB finds it. Then a log loses
// its end, which takes back the newest writes in their order; the whole start of the manifest
// proves that nothing before them is missing.
//
// Threads: none; writers hold the project's lock.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::director {

inline constexpr std::string_view kSealName = "SEAL";

// Called after the database was closed, and its log synced: if a seal outlived the end of a log in
// a power cut, a whole journal would seem damaged.
absl::Status WriteSeal(const std::string& journal_directory);

// OK: there is no seal (an empty seal is what a power cut left), or the files are those that it
// names. DATA_LOSS: what is wrong, for people. RESOURCE_EXHAUSTED: nobody can tell now. Changes
// nothing.
absl::Status CheckSeal(const std::string& journal_directory);

// Called after the database was opened for writing.
absl::Status WriteOpenSeal(const std::string& journal_directory);

absl::Status RemoveSeal(const std::string& journal_directory);

// Says whether RocksDB gives such a name to one of its files, or the seal has it.
bool IsJournalFileName(std::string_view name);

}  // namespace galley::director
