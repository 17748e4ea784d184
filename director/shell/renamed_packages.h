// RenamedPackages: finds the packages of one World that have another name in the next World.
//
// A moved file keeps its inode, size and modification time; only an inode with one name before and
// one name now counts. A file that git writes anew is another file: its package leaves, and a new
// package comes.
//
// Cost: O(changes).
// Threads: any.
#pragma once

#include <vector>

#include "common/content/changes.h"
#include "director/core/events.h"
#include "director/shell/world.h"

namespace galley::director {

// Returns the renamed packages, sorted by the old names. `changes`: from `before` to `now`.
std::vector<FilesChanged::Renamed> RenamedPackages(const std::vector<content::Change>& changes,
                                                   const World& before, const World& now);

}  // namespace galley::director
