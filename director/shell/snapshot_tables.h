// SnapshotTables: manages the files snapshot-<term>[.<n>].table of the state folder. The next cook
// compares the project's files with the table that the journal names; other tables are not needed.
//
// Threads: none; under the project's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/content/snapshot.h"
#include "director/journal/journal.h"

namespace galley::director {

// Returns the name of the table for the world with this number in a term. The first world's name
// has no number.
std::string SnapshotTableName(uint32_t term, uint64_t number);

// Says whether a file of the state folder with this name is a table.
bool IsSnapshotTableName(std::string_view name);

// Returns a new, unique id of a table.
std::string NewTableId();

// Returns a term above `term` and above the term of each table. The journal may be new, or an older
// journal may have been restored, but the names and attempts of a term must not be used twice.
uint32_t NextTerm(const std::string& state_directory, uint32_t term);

// Returns the snapshot that is the base of differences. Null: the journal's base is not available,
// so each package must be looked up again; a table that is damaged, gone or not the journal's is
// noted (repairs.h).
std::unique_ptr<content::Snapshot> BaseTable(const std::string& state_directory,
                                             const JournalMeta& meta);

// Removes all tables that were written before `before`, except `present` and the tables on which
// remaining tables are based. Removes files only.
void RemoveOldTables(const std::string& state_directory, const std::string& present,
                     absl::Time before = absl::InfiniteFuture());

}  // namespace galley::director
