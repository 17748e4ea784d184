// The names of a primitive's attributes, and what glTF asks of them together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

struct AttributeSource {
  std::string semantic;
  int target = kBase;
  size_t accessor = 0;
  std::string pointer;
};

// Takes out what has no meaning without its partner (JOINTS_n and WEIGHTS_n of each other, deltas
// of an attribute that is not there), and tells it; tells names that glTF does not know, and
// numbers that do not begin with 0 or have a gap. `pointer`: of the primitive.
void RepairAttributeNames(std::vector<AttributeSource>& sources, const std::string& pointer,
                          std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
