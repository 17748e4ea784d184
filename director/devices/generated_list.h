// GeneratedList: the packages that a generator's load produced, and where their nodes are; a file
// in the generator's node, to which the link `_gen` leads. Generated packages have no links of
// their own in `static`.
//
//   galley-generated 1
//   <64 hex digits of the node> Game/maps/town.level/_gen/cell_0_1.level
//
// A line ends with '\n'. The path is the package's own in the cooked tree; the names of its
// outputs begin with that path's last name. Sorted by path.
// Version rule: the first line names the version; a reader refuses all others.
// Threads: none; pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/devices/node_path.h"

namespace galley::devices {

struct GeneratedPackage {
  std::string stage_path;
  NodeKey node;
  auto operator<=>(const GeneratedPackage&) const = default;
};

inline constexpr int kGeneratedListVersion = 1;
inline constexpr size_t kGeneratedListBytesMax = 64 << 20;

inline constexpr std::string_view kListName = "_gen";
inline constexpr std::string_view kOtherListName = ".generated";

// The name of the list's file in the node of a package with this last name: kListName. A package
// whose own name begins with it, in any case, may have an output of this name; there the list's
// file is kOtherListName, to which no link leads.
std::string_view GeneratedListName(std::string_view last_name);

// REQUIRES: paths are plain (tree/plain_name.h), sorted, each once.
std::string EncodeGeneratedList(const std::vector<GeneratedPackage>& packages);
// INVALID_ARGUMENT: the bytes are not what EncodeGeneratedList writes. FAILED_PRECONDITION: another
// version.
absl::StatusOr<std::vector<GeneratedPackage>> DecodeGeneratedList(std::string_view bytes);

}  // namespace galley::devices
