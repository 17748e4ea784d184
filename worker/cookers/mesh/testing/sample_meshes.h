// Sample meshes: glTF files made by formulas, for tests. The files need no licence, and have edge
// cases that real files lack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace galley::worker::mesh {

// Puts a glTF together. Tests may change `json`; bytes are appended.
class GltfBuilder {
 public:
  GltfBuilder();

  nlohmann::json json;
  std::string buffer;

  // Adds a buffer view of these bytes, at a multiple of 4.
  size_t AddView(std::string_view bytes, size_t stride = 0);
  size_t AddFloats(std::string_view type, const std::vector<float>& values,
                   bool has_bounds = false);
  // component: 5121, 5123 or 5125; 5120 and 5122 in two's complement.
  size_t AddIntegers(std::string_view type, int component, const std::vector<uint32_t>& values,
                     bool is_normalized = false);
  // Adds a mesh with a single primitive, and a node of the first scene that shows it.
  void AddMesh(nlohmann::json primitive);

  std::string Glb() const;
  // The .gltf, with the buffer at `uri`, or within the file as base64 when `uri` is empty.
  std::string Gltf(std::string_view uri = {}) const;
};

std::string Base64(std::string_view bytes);
// A GLB of exactly these chunks.
std::string GlbOf(std::string_view json, std::string_view binary);
// The smallest PNG: one texel.
std::string TinyPng();

struct Surface {
  std::vector<float> positions;
  std::vector<float> normals;
  std::vector<float> texcoords;
  std::vector<uint32_t> indices;
};
// A cube: 24 vertices; edge 2, centre at (10, 0, 0).
Surface Cube();
// A waved surface: columns x rows quads over [-1, 1] x [0, 3]; smooth normals, texture coordinates
// 0 to 1.
Surface Waves(uint32_t columns, uint32_t rows);

// The attributes and indices (16 or 32 bits, as needed) of a surface, as a primitive.
nlohmann::json AddSurface(GltfBuilder& builder, const Surface& surface);

// Gives the first primitive an attribute `name`: the same floats for each of `count` vertices.
void PutFloats(GltfBuilder& builder, const char* name, const char* type, size_t count,
               const std::vector<float>& element);

// --- Whole scenes.
GltfBuilder CubeScene();
inline constexpr size_t kWaveVertices = 147;  // of SkinnedScene
// A wave that hangs on two joints; an animation moves one of them.
GltfBuilder SkinnedScene();
// A wave with two targets (one with normals), weights, and an animation of the weights.
GltfBuilder MorphScene();
// Two primitives with materials whose textures are a file, a view and a data URI.
GltfBuilder MaterialsScene();
// A wave in two halves of different materials, which meet at x = 0.
GltfBuilder HalvesScene();

}  // namespace galley::worker::mesh
