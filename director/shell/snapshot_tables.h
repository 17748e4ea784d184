// SnapshotTables: the files snapshot-<term>[.<n>].table of the state folder. The next cook compares
// the files with the one that the journal names; nobody needs the others.
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

// The name of the table of the world with this number in a director's term; that of the first world
// has no number in it.
std::string SnapshotTableName(uint32_t term, uint64_t number);

// Whether a file of the state folder with this name is a table.
bool IsSnapshotTableName(std::string_view name);

// A new one each time: it tells one table from all others.
std::string NewTableId();

// Higher than `term` and than that of any table: the journal may be a new one, or an older one that
// was put back, and the names and attempts of a term are not used twice.
uint32_t NextTerm(const std::string& state_directory, uint32_t term);

// The base of differences. Null: there is none that is the journal's, and each package is to be
// looked up again; a table that is damaged, gone or another one than the journal knows is noted
// (healed.h).
std::unique_ptr<content::Snapshot> BaseTable(const std::string& state_directory,
                                             const JournalMeta& meta);

// Removes the tables of earlier cooks, and successors that a cook which died left behind, as far as
// they were written before that time; a table on which a table that stays stands stays, too. Files
// only.
void RemoveOldTables(const std::string& state_directory, const std::string& present,
                     absl::Time before = absl::InfiniteFuture());

}  // namespace galley::director
