// RenamedPackages: which packages of one World have another name in the next.
//
// A file that was moved keeps its place on the disk, its size and the time of its content; only
// those that one name had before, and one has now, count. (A file that git writes anew is another
// one: its package leaves, and a new one comes.)
//
// Cost: O(changes).
// Threads: any.
#pragma once

#include <vector>

#include "common/content/snapshot.h"
#include "director/core/events.h"
#include "director/shell/world.h"

namespace galley::director {

// `changes`: from `before` to `now`. Sorted by the old names.
std::vector<FilesChanged::Renamed> RenamedPackages(const std::vector<content::Change>& changes,
                                                   const World& before, const World& now);

}  // namespace galley::director
