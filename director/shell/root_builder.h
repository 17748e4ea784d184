// RootBuilder: builds a platform's cooked tree from results; names in the tree come only from here.
#pragma once

#include <string>
#include <string_view>

#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"

namespace galley::director {

// Returns true when the platform has `os = "windows"`, in letters of any case.
bool IsForWindows(const Sources& sources, PlatformIndex platform);
// Says why a path of a tree can be on no file system, or not on Windows; empty: the path is fine.
std::string NameFault(std::string_view path, bool is_for_windows);

// Puts the Directories into the store. A package with an output that has a NameFault goes to
// RootBuilt::conflicts, as a conflict with itself. A root with missing files must not be published:
// RootBuilt::lost. After the first round the disk is asked for the Directories, and they are read.
// `whole`: a root that is known to have lost nothing, about which the store is not asked, or
// nullptr. Blocks.
absl::StatusOr<RootBuilt> BuildRootTree(const Sources& sources, const ResultTable& results,
                                        store::Store& store, const BuildRoot& request,
                                        const Digest* whole = nullptr);

}  // namespace galley::director
