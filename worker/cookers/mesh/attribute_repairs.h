// RepairAttributeData: mends vertex data that breaks a rule of glTF and can still be drawn.
#pragma once

#include <string>

#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Normals and tangents get the length 1, signs of tangents become 1 or -1, and weights below 0
// become 0. A joint that a vertex names twice is named once, with the sum of its weights; joints
// without a weight become 0. Warns of repairs that change the drawing, and of colours out of their
// range.
void RepairAttributeData(Primitive& primitive, Warnings& warnings);

}  // namespace galley::worker::mesh
