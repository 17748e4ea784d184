// CompareRoots: which paths of the cooked tree lead to other files in one root of a session than in
// an older one: what whoever has the older files needs to ask for.
//
// Cost: that of vfs::DiffTrees, and the folders on the way to each path that differs.
// Threads: any; blocks.
#pragma once

#include <cstddef>

#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// With more paths the difference is cut: reading the folders costs a device little more then.
inline constexpr size_t kRootDifferenceMax = 20'000;

// DeviceCalls::CompareRoots. `read`: as tree::ReadBlob, of the store.
DifferenceAnswer CompareRoots(const Digest& older, const Digest& newer, const tree::ReadBlob& read,
                              const Cancellation& stop, size_t paths_max = kRootDifferenceMax);

}  // namespace galley::director
