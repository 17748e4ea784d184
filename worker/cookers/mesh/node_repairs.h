// The rules for nodes and skins that can be judged without geometry. What breaks them is repaired
// where the drawing is plain, else told with the code of Khronos' validator.
#pragma once

#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/node_forest.h"

namespace galley::worker::mesh {

// Transforms, and what needs a mesh. REQUIRES: indices are in range, and RepairProperties was
// called.
void RepairNodes(Json& json, std::vector<std::string>& warnings);
// Joints that have no root in common, skeletons that are none, skins of another scene. REQUIRES:
// the same.
void RepairSkins(Json& json, const NodeForest& forest, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
