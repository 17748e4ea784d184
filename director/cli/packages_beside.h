// PackagesBeside: packages whose outputs could be taken, by their names, for outputs of packages
// that failed ("/Game/a.json.meta" beside "/Game/a.json").
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/journal/journal.h"

namespace galley::cli {

// `failed`: where the outputs of the failed packages begin in the tree (director::StagePath). The
// answer is such beginnings, too, of packages that were ever cooked here and are not in `failed`.
// Cost: a look at each package of the journal.
absl::StatusOr<std::vector<std::string>> PackagesBeside(const project::Project& project,
                                                        director::Journal& journal,
                                                        const std::vector<std::string>& failed);

}  // namespace galley::cli
