// The repair of what nodes, meshes and materials say of each other.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Takes out meshes without primitives, of `json` and of `meshes`, and what nodes said of them; the
// others get new numbers.
void DropEmptyMeshes(Json& json, std::vector<MeshData>& meshes, std::vector<std::string>& warnings);
// Weights get as many numbers as there are morph targets; a mesh without joints gets no skin.
void RepairMeshUse(Json& json, const std::vector<MeshData>& meshes,
                   std::vector<std::string>& warnings);
// Tells the primitives without the texture coordinates or tangents that their materials need.
// `texcoords`: by material, from TakeTextures.
void CheckMaterialUse(const Json& json, const std::vector<MeshData>& meshes,
                      const std::vector<std::set<uint64_t>>& texcoords,
                      std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
