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
  uint64_t elsewhere = 0;          // number of paths under no mount
};

// Adds all virtual paths of `named`: a virtual path, or a host path, absolute or relative to the
// working directory. A file that is gone has virtual paths as well.
void AddPath(const project::Project& project, const std::string& named, ChangeList& list);

// Returns the paths of a list: separated by NUL if the text has any NUL, otherwise one path in each
// line (a CR before the LF does not count); skips empty paths. A byte order mark is no part of a
// path, and a list in UTF-16 that begins with a mark is read as UTF-16, because shells of Windows
// write such lists. A line in quotes is read as git quotes paths: with \n, \" and the like, and
// \303 for a byte. Ill-formed parts of a text in UTF-16 become U+FFFD; an odd last byte is dropped.
std::vector<std::string> PathsIn(std::string_view text);

// Reads the lists; "-" is standard input. INVALID_ARGUMENT: a list cannot be read.
absl::StatusOr<ChangeList> ReadChangeLists(const project::Project& project,
                                           const std::vector<std::string>& files);

}  // namespace galley::cli
