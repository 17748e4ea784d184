// Order and number of vertices and triangles, by meshoptimizer. What is drawn stays the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Numbers elements so that equal ones (same bytes in all streams) have one number; numbers rise in
// the order of first appearance. Streams are tight.
struct ElementBytes {
  const void* data;
  size_t size;  // of one element, at most 256
};
std::vector<uint32_t> NumberEqual(const std::vector<ElementBytes>& streams, size_t count);

// Makes vertices that are equal in all attributes and targets one (-0.0 becomes 0.0, which it
// equals); triangles that thereby lose a corner are left out. REQUIRES: triangles.
void WeldVertices(Primitive& primitive);
// Triangles in an order that is good for the vertex cache and overdraw, vertices in the order of
// their first use. REQUIRES: triangles.
void OptimizeOrder(Primitive& primitive);
struct SimplifyOptions {
  double ratio = 1;               // of the triangles, aimed at
  double error_max = 0;           // of the primitive's extent, never passed
  bool is_border_locked = false;  // vertices of open edges stay where they are
};
// Fewer triangles out of the same vertices; at least one. nullopt: nothing would be left. REQUIRES:
// triangles.
std::optional<Primitive> Simplified(const Primitive& primitive, const SimplifyOptions& options);

// "meshoptimizer=<version>-<first digits of the build id of the loaded library>"
std::string GeometryIdentity();

}  // namespace galley::worker::mesh
