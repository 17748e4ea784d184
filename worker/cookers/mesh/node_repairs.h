// Node repairs: the rules for nodes and skins that can be judged without geometry. A node or skin
// that breaks a rule is repaired where the drawing is plain, else told with the code of Khronos'
// validator.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/node_forest.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Repairs transforms, and nodes with what only a mesh can have. REQUIRES: indices are in range, and
// RepairProperties was called.
void RepairNodes(Json& json, Warnings& warnings);
// Repairs skins whose joints have no root in common, whose skeleton is no skeleton, or that belong
// to another scene. REQUIRES: as RepairNodes.
void RepairSkins(Json& json, const NodeForest& forest, Warnings& warnings);

}  // namespace galley::worker::mesh
