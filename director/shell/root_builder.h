// RootBuilder: builds a platform's cooked tree from results, and decides all names in the tree.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"

namespace galley::director {

// Says whether the platform has `os = "windows"`, ignoring case.
bool IsForWindows(const project::Platform& platform);
bool IsForWindows(const Sources& sources, PlatformIndex platform);
// Says why a path is not valid in a tree, or not on Windows; empty: the path is valid.
std::string NameFault(std::string_view path, bool is_for_windows);

// Builds the tree, and puts its Directories into the store. Blocks.
// RootBuilt::conflicts also has packages whose outputs have a NameFault, in conflict with
// themselves. A root with RootBuilt::lost, missing files, must not be published. After the first
// round the Directories are checked on the disk, so that lost ones are put again.
// `whole`: a root that is known to have lost nothing: if the new root equals it, the store is not
// asked for the files. May be null.
absl::StatusOr<RootBuilt> BuildRootTree(const Sources& sources, const ResultTable& results,
                                        store::Store& store, const BuildRoot& request,
                                        const Digest* whole = nullptr);

}  // namespace galley::director
