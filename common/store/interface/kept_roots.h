// KeptRoots: selects the roots that are never collected.
#pragma once

#include <span>
#include <vector>

#include "common/store/interface/store.h"

namespace galley::store {

// Returns the kept roots of `newest_first`: for each project and platform the newest root, by the
// book or not, and the newest roots by the book, as many as the newest root's keep_roots says (0:
// 10).
std::vector<PublishedRoot> KeptRoots(std::span<const PublishedRoot> newest_first);

}  // namespace galley::store
