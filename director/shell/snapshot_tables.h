// SnapshotTables: the files snapshot-<term>[.<n>].table of the state folder. The next cook compares
// the project's files with the table that the journal names; nobody needs the other tables.
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

// Returns the name of the table of the world with this number in a director's term; the name for
// the first world has no number.
std::string SnapshotTableName(uint32_t term, uint64_t number);

// Says whether a file of the state folder with this name is a table.
bool IsSnapshotTableName(std::string_view name);

// Returns a new id each time, which tells one table from all others.
std::string NewTableId();

// Returns a term higher than `term` and than the term of any table: the journal may be new, or an
// older journal may have been put back, and the names and attempts of a term are not used twice.
uint32_t NextTerm(const std::string& state_directory, uint32_t term);

// Returns the base of differences. Null: the journal's base is not there, and each package is to be
// looked up again; a table that is damaged, gone or not the journal's is noted (healed.h).
std::unique_ptr<content::Snapshot> BaseTable(const std::string& state_directory,
                                             const JournalMeta& meta);

// Removes the tables of earlier cooks, and successors that a dead cook left, if they were written
// before `before`. A table that a remaining table builds on stays as well. Removes files only.
void RemoveOldTables(const std::string& state_directory, const std::string& present,
                     absl::Time before = absl::InfiniteFuture());

}  // namespace galley::director
