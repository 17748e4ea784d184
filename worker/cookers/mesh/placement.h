// How a mesh on a position grid is put back to its place. All else in the scene stays where it was,
// and all indices of nodes stay:
// - a node that shows the mesh hands it to a new child, whose scale and translation are the grid's;
//   the node's cameras, lights and children are not scaled by it, and animations of the node need
//   no change. Morph weights and their animations go along to the child;
// - where the mesh has a skin, the node's transform means nothing (glTF 2.0, 3.7.3.3): the skin's
//   inverse bind matrices take the grid up. So all meshes of a skin share a grid, and all skins of
//   a mesh do.
#pragma once

#include <optional>
#include <vector>

#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/position_grid.h"
#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

struct Grids {
  // By mesh and by skin; nullopt: positions stay as they are.
  std::vector<std::optional<PositionGrid>> of_mesh;
  std::vector<std::optional<PositionGrid>> of_skin;
};

// No grid for a mesh that no node shows, that is instanced (EXT_mesh_gpu_instancing multiplies
// between node and mesh), some of whose positions or their deltas are integers already, or for
// which FitGrid has none; nor for what shares a skin with it. None, either, for meshes that share a
// skin when one of them alone would have a grid more than 256 times as fine: 8 bits are what it may
// lose.
Grids PlanGrids(const Json& json, const std::vector<MeshData>& meshes);

// Adds the children, and moves the targets of animations of weights.
void PlaceMeshes(Json& json, const Grids& grids);

// The inverse bind matrices of a skin, with its grid. `matrices`: MAT4 of floats, one for each
// joint.
void AbsorbGrid(Stream& matrices, const PositionGrid& grid);

}  // namespace galley::worker::mesh
