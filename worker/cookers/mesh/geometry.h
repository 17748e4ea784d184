// Geometry: the order and number of vertices and triangles, by meshoptimizer. The drawing stays the
// same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Numbers elements. Equal elements (same bytes in all streams) get the same number; numbers rise in
// the order of first appearance. Streams are tight.
struct ElementBytes {
  const void* data;
  size_t size;  // bytes of an element, at most 256
};
std::vector<uint32_t> NumberEqual(const std::vector<ElementBytes>& streams, size_t count);

// Joins vertices that are equal in all attributes and targets (-0.0 becomes 0.0), and drops
// triangles with two equal corners, unless no triangle would be left. REQUIRES: triangles.
void WeldVertices(Primitive& primitive);
// Puts triangles in an order that suits the vertex cache and avoids overdraw, and vertices in the
// order of their first use. REQUIRES: triangles.
void OptimizeOrder(Primitive& primitive);
struct SimplifyOptions {
  double ratio = 1;               // the wanted part of the triangles
  double error_max = 0;           // as a part of the primitive's extent; never exceeded
  bool is_border_locked = false;  // vertices of open edges stay where they are
};
// The primitive with fewer triangles, at least one, of the same vertices. nullopt: no triangle
// would be left. REQUIRES: triangles.
std::optional<Primitive> Simplified(const Primitive& primitive, const SimplifyOptions& options);

// "meshoptimizer=<version>-<first digits of the build id of the loaded library>"
std::string GeometryIdentity();

}  // namespace galley::worker::mesh
