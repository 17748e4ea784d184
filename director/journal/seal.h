// JournalSeal: the state of a journal's database files at the last close, in the file SEAL beside
// them (sealed text, docs/formats.md).
//
// RocksDB takes a log or a manifest with a damaged end for a file that was never finished, and so
// may open without its newest records, or without some in the middle: a record that was marked
// untrusted would be trusted again. So the files must be those that the seal names: logs, manifest
// and CURRENT by digest, tables by size (each of their blocks has a checksum). While the database
// is open for writing, the seal names CURRENT and the start of the manifest, to which RocksDB
// appends; after a kill of the director the other files are not checked. A kill can cost a log its
// end, which undoes the newest writes in their order; the whole start of the manifest proves that
// nothing before them is missing.
//
// Threads: none; writers hold the project's lock.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::director {

inline constexpr std::string_view kSealName = "SEAL";

// Seals the files. REQUIRES: the database is closed, and its log synced: if a seal outlived the end
// of a log in a power cut, a whole journal would seem damaged.
absl::Status WriteSeal(const std::string& journal_directory);

// Changes nothing. OK: there is no seal, or an empty one, which a power cut leaves; or the files
// are as the seal says. DATA_LOSS: a difference, for people. RESOURCE_EXHAUSTED: unknown now.
absl::Status CheckSeal(const std::string& journal_directory);

// Seals the files of an open database. Call after opening for writing.
absl::Status WriteOpenSeal(const std::string& journal_directory);

absl::Status RemoveSeal(const std::string& journal_directory);

// Returns true for a name that RocksDB gives to its files, or that the seal has.
bool IsJournalFileName(std::string_view name);

}  // namespace galley::director
