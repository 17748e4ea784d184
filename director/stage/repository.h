// Repositories of version control systems: an exact stage never removes one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/stage/sandbox.h"

namespace galley::director {

// True for a file or folder that a version control system keeps in a folder of its user's: ".git".
bool IsRepositoryName(std::string_view name);

// Each bare repository of Git has this file.
inline constexpr std::string_view kBareRepositoryFile = "HEAD";

// `folder`, which holds `names` (sorted), is a repository itself: one of Git without a folder of
// files, as `git clone --bare` and servers make it. Its folders may be links to those of another
// one.
// Source: gitrepository-layout(5).
absl::StatusOr<bool> IsBareRepository(Sandbox& sandbox, std::string_view folder,
                                      const std::vector<std::string>& names);

}  // namespace galley::director
