// FindSharedBorders: the open edges of primitives at which primitives meet.
#pragma once

#include <vector>

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Returns for each primitive whether an open edge of it ends at the position of a vertex of another
// triangle primitive. An edge is open when no triangle of its primitive has the same edge in the
// opposite direction; vertices at the same place count as the same vertex.
// Cost: n log n for the mesh's n triangles. REQUIRES: positions without -0.0.
std::vector<bool> FindSharedBorders(const MeshData& mesh);

}  // namespace galley::worker::mesh
