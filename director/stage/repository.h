// Repository: recognizes repositories of version control systems, which an exact stage never
// removes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/stage/sandbox.h"

namespace galley::director {

// Returns true for the name of a version control system's file or folder in a work tree: ".git".
bool IsRepositoryName(std::string_view name);

// A file that every bare repository of Git has.
inline constexpr std::string_view kBareRepositoryFile = "HEAD";

// Returns true if `folder`, which holds `names` (sorted), is a bare repository of Git, as `git
// clone --bare` and servers make it. Its folders may be links to those of another repository.
// Source: gitrepository-layout(5).
absl::StatusOr<bool> IsBareRepository(Sandbox& sandbox, std::string_view folder,
                                      const std::vector<std::string>& names);

}  // namespace galley::director
