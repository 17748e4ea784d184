// Placement: moves a mesh on a position grid back to its place. Everything else in the scene stays
// in its place, and all indices of nodes stay:
// - A node that shows the mesh hands it to a new child, whose scale and translation are the grid's.
//   So the node's cameras, lights and children are not scaled, and its animations need no change.
//   Morph weights and their animations go along to the child.
// - Where the mesh has a skin, the node's transform means nothing (glTF 2.0, 3.7.3.3): the skin's
//   inverse bind matrices absorb the grid. So the meshes of a skin share a grid, and so do the
//   skins of a mesh.
#pragma once

#include <optional>
#include <vector>

#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/position_grid.h"
#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

struct Grids {
  // By mesh and by skin; nullopt: positions stay unchanged.
  std::vector<std::optional<PositionGrid>> of_mesh;
  std::vector<std::optional<PositionGrid>> of_skin;
};

// Plans the grids. A mesh has no grid when no node shows it, when it is instanced
// (EXT_mesh_gpu_instancing multiplies between node and mesh), when some of its positions or deltas
// are integers already, when FitGrid has none for it, or when it shares a skin with such a mesh.
// Meshes that share a skin have no grid, either, when one of them alone would have a grid more than
// 256 times as fine: a mesh may lose 8 bits.
Grids PlanGrids(const Json& json, const std::vector<MeshData>& meshes);

// Adds the children to `json`, and moves the targets of animations of weights to them.
void PlaceMeshes(Json& json, const Grids& grids);

// Multiplies the grid into a skin's inverse bind matrices. `matrices`: MAT4 of floats, one for each
// joint.
void AbsorbGrid(Stream& matrices, const PositionGrid& grid);

}  // namespace galley::worker::mesh
