// ChangeList: the files that `galley cook --changed` names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"

namespace galley::cli {

struct ChangeList {
  std::vector<std::string> paths;  // virtual; sorted, unique
  uint64_t elsewhere = 0;          // paths that lie under no mount
};

// Adds all virtual paths of a host path (absolute, or relative to the working directory), or of a
// path that is virtual already. A file that is gone has them, too.
void AddPath(const project::Project& project, const std::string& named, ChangeList& list);

// The paths of a list: separated by NUL if there is any in it, else one in each line (a CR before
// the LF is none of it); empty ones are passed over. A byte order mark is no part of a path, and a
// list in UTF-16 that begins with one is read as such (a shell of Windows writes those). A line in
// quotes is read as git quotes paths: with \n, \" and the like, and \303 for a byte. REQUIRES: a
// text in UTF-16 is well-formed up to its last byte; what is not becomes U+FFFD.
std::vector<std::string> PathsIn(std::string_view text);

// Reads the lists; "-" is standard input. INVALID_ARGUMENT: one cannot be read.
absl::StatusOr<ChangeList> ReadChangeLists(const project::Project& project,
                                           const std::vector<std::string>& files);

}  // namespace galley::cli
