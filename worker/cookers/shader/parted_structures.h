// Structures of one name, which spirv-cross would compare without end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace galley::worker {

struct PartedStructures {
  std::vector<uint32_t> module;           // for spirv-cross
  std::map<uint32_t, std::string> names;  // to be given back to them when the module was read
};

// When spirv-cross reads a module, it compares each structure with those of the same name before
// it, member by member and through buffer references, and does not note where it has been: a list,
// whose references lead back through a structure, overflows its stack. Here such structures get
// names of their own, which ends the comparison at once.
PartedStructures PartStructures(const std::vector<uint32_t>& module);

}  // namespace galley::worker
