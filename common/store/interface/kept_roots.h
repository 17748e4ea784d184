// Which roots are never collected.
#pragma once

#include <span>
#include <vector>

#include "common/store/interface/store.h"

namespace galley::store {

// The roots among `newest_first` that are kept: the newest of each project and platform, by the
// book or not, and as many by the book as the newest says its project keeps (10 when it does not
// say).
std::vector<PublishedRoot> KeptRoots(std::span<const PublishedRoot> newest_first);

}  // namespace galley::store
