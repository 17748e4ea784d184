// Open edges of primitives, and where primitives meet in them.
#pragma once

#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// By primitive: whether an open edge of it (one that no triangle of the primitive goes along the
// other way, vertices at one place being one) ends where another primitive of triangles has a
// vertex.
// Cost: n log n of the mesh's triangles. REQUIRES: positions without -0.0.
std::vector<bool> FindSharedBorders(const MeshData& mesh);

}  // namespace galley::worker::mesh
