// Quantization: smaller vertex attributes, in formats of glTF 2.0 and KHR_mesh_quantization.
// Positions are put on a grid (position_grid.h).
//
//   NORMAL      int8 normalized
//   TANGENT     int8 normalized, w -1 or 1
//   TEXCOORD_n  uint16 normalized when all lie in 0..1, else kept
//   COLOR_n     uint8 normalized when all are multiples of 1/255, else uint16; kept outside of 0..1
//   JOINTS_n    uint8 when all are below 256, 0 where the weight is 0
//   WEIGHTS_n   uint8 normalized, the sum of a vertex exactly 255
//   deltas of NORMAL and TANGENT: int8 normalized when all lie in -1..1, else kept
//
// Attributes that are integers already stay (joints may shrink, weights are brought to their sum).
// Other attributes, like _HEAT, stay as they are.
#pragma once

#include <string>

#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Warns of normals and weights without a meaning, and of their replacements.
void QuantizeAttributes(Primitive& primitive, Warnings& warnings);
// Keeps the formats; gives weights the sum 1, and repairs directions without a length. Warns like
// QuantizeAttributes.
void NormalizeAttributes(Primitive& primitive, Warnings& warnings);
// Whether some attribute has a format that only KHR_mesh_quantization allows.
bool NeedsQuantizationExtension(const Primitive& primitive);

}  // namespace galley::worker::mesh
