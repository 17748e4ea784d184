// The list of the packages that a generator's load produced: the file `_gen` of its node.
//
//   galley-generated 1
//   <64 hex digits of the node> Game/maps/town.level/_gen/cell_0_1.level
//
// Source: docs/formats.md, "What devices see". Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::vfs {

struct GeneratedPackage {
  std::string path;  // in the cooked tree, where its outputs' paths begin with it
  std::string node;  // 64 hex digits
};

// nullopt: the bytes are no list, or one of another version.
std::optional<std::vector<GeneratedPackage>> ParseGeneratedList(std::string_view bytes);

}  // namespace galley::vfs
