// What a cook by the book takes away because rules changed, when it is most of the last root: so
// that a typo in a pattern is seen.
#pragma once

#include <string>
#include <string_view>

#include "common/store/interface/store.h"
#include "director/shell/world.h"

namespace galley::director {

// "windows: 60 of the 100 files of its last root are gone, ...". Empty: no more than half of them
// went because no rule makes a package of their sources any more, or the trees cannot be read.
// Cost: that of the trees' difference, and of the last tree when most of it differs.
std::string RemovedByRulesText(store::Store& store, const Digest& before, const Digest& after,
                               std::string_view platform, const World& world);

}  // namespace galley::director
