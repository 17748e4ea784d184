// Builds a platform's cooked tree from results: names in the tree come from here alone.
#pragma once

#include <string>
#include <string_view>

#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"

namespace galley::director {

// True when the platform has `os = "windows"`, in letters of any case.
bool IsForWindows(const Sources& sources, PlatformIndex platform);
// Why a path of a tree can be on no file system, or not on Windows; empty: it can be.
std::string NameFault(std::string_view path, bool is_for_windows);

// Puts the Directories into the store. A package with an output that has a NameFault is in
// RootBuilt::conflicts, as being in conflict with itself. A root whose files are not all there is
// not to be published: RootBuilt::lost. In a later round than the first the disk is asked for the
// Directories, and they are read. `whole`: a root that is known to have lost nothing, or nullptr;
// the store is not asked about it. Blocking.
absl::StatusOr<RootBuilt> BuildRootTree(const Sources& sources, const ResultTable& results,
                                        store::Store& store, const BuildRoot& request,
                                        const Digest* whole = nullptr);

}  // namespace galley::director
