// RepairAttributeNames: repairs the set of a primitive's attributes, as far as their names tell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

struct AttributeSource {
  std::string semantic;
  int target = kBase;
  size_t accessor = 0;
  std::string pointer;
};

// Removes attributes whose partner is missing, with a warning: JOINTS_n and WEIGHTS_n without each
// other, deltas of an absent attribute. Warns also of names that glTF does not know, and of numbers
// that do not begin with 0 or have a gap. `pointer`: the primitive's.
void RepairAttributeNames(std::vector<AttributeSource>& sources, const std::string& pointer,
                          Warnings& warnings);

}  // namespace galley::worker::mesh
