// RenamedPackages: which packages of one World have another name in the next World.
//
// A moved file keeps its place on the disk, its size and the time of its content; only places that
// had one name before, and have one name now, count. A file that git writes anew is another file:
// its package leaves, and a new package comes.
//
// Cost: O(changes).
// Threads: any.
#pragma once

#include <vector>

#include "common/content/changes.h"
#include "director/core/events.h"
#include "director/shell/world.h"

namespace galley::director {

// `changes`: from `before` to `now`. Sorted by the old names.
std::vector<FilesChanged::Renamed> RenamedPackages(const std::vector<content::Change>& changes,
                                                   const World& before, const World& now);

}  // namespace galley::director
