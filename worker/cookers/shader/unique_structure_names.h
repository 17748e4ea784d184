// UniqueStructureNames: renamed structures, which spirv-cross would otherwise compare endlessly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace galley::worker {

struct UniqueStructureNames {
  std::vector<uint32_t> module;  // for spirv-cross
  // The old names by id, to be restored when spirv-cross has read the module.
  std::map<uint32_t, std::string> names;
};

// Gives a structure a unique name where spirv-cross would compare endlessly. When spirv-cross reads
// a module, it compares each structure with earlier structures of the same name, through members
// and buffer references, and does not mark visited pairs: a linked list overflows its stack. A
// unique name ends the comparison at once.
UniqueStructureNames MakeStructureNamesUnique(const std::vector<uint32_t>& module);

}  // namespace galley::worker
