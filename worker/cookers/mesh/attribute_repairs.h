// The repair of vertex data that breaks a rule of glTF and can still be drawn.
#pragma once

#include <string>
#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Normals and tangents get the length 1, signs of tangents become 1 or -1, weights below 0 become
// 0, and a joint that a vertex names twice is named once, with the sum of its weights; joints
// without a weight are 0. Tells what changes what is drawn, and colours out of their range.
void RepairAttributeData(Primitive& primitive, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
