// Node repairs: the rules for nodes and skins that can be judged without geometry. A node or skin
// that breaks a rule is repaired if the intended drawing is clear; otherwise a warning has the code
// of Khronos' validator.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/node_forest.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Repairs transforms, and removes the skin and weights of nodes without a mesh. REQUIRES: indices
// are in range, and RepairProperties was called.
void RepairNodes(Json& json, Warnings& warnings);
// Repairs skins whose joints have no root in common, whose skeleton is no skeleton, or that belong
// to another scene. REQUIRES: as RepairNodes.
void RepairSkins(Json& json, const NodeForest& forest, Warnings& warnings);

}  // namespace galley::worker::mesh
