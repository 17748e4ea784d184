// Repository: repositories of version control systems, which an exact stage never removes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/stage/sandbox.h"

namespace galley::director {

// Returns true for a file or folder that a version control system keeps in its user's folder:
// ".git".
bool IsRepositoryName(std::string_view name);

// Every bare repository of Git has this file.
inline constexpr std::string_view kBareRepositoryFile = "HEAD";

// Says whether `folder`, which holds `names` (sorted), is a bare repository of Git, as `git clone
// --bare` and servers make it. Its folders may be links to those of another repository.
// Source: gitrepository-layout(5).
absl::StatusOr<bool> IsBareRepository(Sandbox& sandbox, std::string_view folder,
                                      const std::vector<std::string>& names);

}  // namespace galley::director
