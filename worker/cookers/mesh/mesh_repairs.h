// Mesh repairs: mends what nodes, meshes and materials say of each other.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Takes meshes without primitives out of `json` and of `meshes`, and out of the nodes that show
// them. The other meshes get new numbers.
void DropEmptyMeshes(Json& json, std::vector<MeshData>& meshes, Warnings& warnings);
// Gives weights as many numbers as there are morph targets; takes the skin from a mesh without
// joints.
void RepairMeshUse(Json& json, const std::vector<MeshData>& meshes, Warnings& warnings);
// Warns of primitives without the texture coordinates or tangents that their materials need.
// `texcoords`: by material, from TakeTextures.
void CheckMaterialUse(const Json& json, const std::vector<MeshData>& meshes,
                      const std::vector<std::set<uint64_t>>& texcoords, Warnings& warnings);

}  // namespace galley::worker::mesh
