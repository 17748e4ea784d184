// PositionGrid: the grid of quantised positions. position = (origin + q) * step, q 16-bit unsigned.
//
// `step` is a power of two and `origin` whole, at most 2^24. So a reader that computes positions
// from q in float32 is exact: only quantisation loses something, at most half a step. Positions on
// the grid stay as they are, so that cooking a cooked mesh changes nothing. Neighbouring meshes of
// equal step agree on common borders. The three axes share a step, so that normals need no
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

// The finest grid that holds all positions of these primitives, and the deltas of positions as
// signed 16-bit integers. nullopt: its step would be too small or too large.
std::optional<PositionGrid> FitGrid(const std::vector<const Primitive*>& primitives);
// Whether all positions are at the same place, and no delta moves them.
bool IsPoint(const std::vector<const Primitive*>& primitives);
// Puts positions and their deltas on `grid`. REQUIRES: FitGrid saw the primitive.
void QuantizePositions(Primitive& primitive, const PositionGrid& grid);

}  // namespace galley::worker::mesh
