// PositionGrid: where quantised positions lie. position = (origin + q) * step, q 16-bit unsigned.
//
// `step` is a power of two and `origin` whole, at most 2^24: so what a reader computes from q, in
// float32, is exact; nothing is lost but at most half a step on the way in; positions that lie on
// the grid already stay as they are (cooking a cooked mesh changes nothing); and neighbouring
// meshes of one step agree on common borders. One step for the three axes: normals need no
// correction. A mesh of extent 1 has a step of 2^-16 or 2^-15. Steps lie between 2^-100 and 2^100,
// so that no reader's float32 underflows or overflows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

struct PositionGrid {
  double step = 1;
  std::array<double, 3> origin = {0, 0, 0};

  double Translation(size_t axis) const { return origin[axis] * step; }
  bool IsIdentity() const { return step == 1 && origin == std::array<double, 3>{0, 0, 0}; }
};

// The finest grid that holds all positions, and deltas of positions as signed 16-bit integers, of
// these primitives. nullopt: its step would be too small or too large.
std::optional<PositionGrid> FitGrid(const std::vector<const Primitive*>& primitives);
// Whether all positions are at one place, and no delta moves them.
bool IsPoint(const std::vector<const Primitive*>& primitives);
// Puts positions and their deltas on `grid`. REQUIRES: FitGrid saw the primitive.
void QuantizePositions(Primitive& primitive, const PositionGrid& grid);

}  // namespace galley::worker::mesh
