// Changed names: the new names of source files that were renamed.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/events.h"

namespace galley::director {

using NewNames = absl::btree_map<std::string_view, std::string_view>;  // by the old names

// `all` outlives the result.
NewNames NewNamesOf(const std::vector<FilesChanged::Renamed>& all);

// Renames the selected packages from `first` on.
void RenameIn(std::vector<SelectedPackage>& selected, size_t first, const NewNames& new_names);

}  // namespace galley::director
