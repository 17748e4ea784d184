// Mesh repairs: mends contradictions between nodes, meshes and materials.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Removes meshes without primitives from `json`, from `meshes`, and from the nodes that show them.
// The other meshes get new numbers.
void DropEmptyMeshes(Json& json, std::vector<MeshData>& meshes, Warnings& warnings);
// Gives weights as many numbers as there are morph targets; removes the skin of a mesh without
// joints.
void RepairMeshUse(Json& json, const std::vector<MeshData>& meshes, Warnings& warnings);
// Warns of primitives without the texture coordinates or tangents that their materials need.
// `texcoords`: by material, from TakeTextures.
void CheckMaterialUse(const Json& json, const std::vector<MeshData>& meshes,
                      const std::vector<std::set<uint64_t>>& texcoords, Warnings& warnings);

}  // namespace galley::worker::mesh
