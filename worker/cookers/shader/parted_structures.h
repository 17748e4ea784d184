// PartedStructures: structures of equal names, which spirv-cross would compare endlessly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace galley::worker {

struct PartedStructures {
  std::vector<uint32_t> module;  // for spirv-cross
  // The old names, to be given back when spirv-cross has read the module.
  std::map<uint32_t, std::string> names;
};

// Gives structures names of their own where spirv-cross would compare endlessly. When spirv-cross
// reads a module, it compares each structure with earlier structures of the same name, member by
// member and through buffer references, and does not note where it has been: a list, whose
// references lead back through a structure, overflows its stack. A name of its own ends the
// comparison at once.
PartedStructures PartStructures(const std::vector<uint32_t>& module);

}  // namespace galley::worker
