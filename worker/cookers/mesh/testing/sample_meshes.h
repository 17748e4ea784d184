// glTF files by formula, for tests: no file that somebody owns, and the edges that real ones lack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace galley::worker::mesh {

// Puts a glTF together: `json` is free to be changed, bytes are appended.
class GltfBuilder {
 public:
  GltfBuilder();

  nlohmann::json json;
  std::string buffer;

  // A buffer view of these bytes, at a multiple of 4.
  size_t AddView(std::string_view bytes, size_t stride = 0);
  size_t AddFloats(std::string_view type, const std::vector<float>& values,
                   bool has_bounds = false);
  // component: 5121, 5123 or 5125; 5120 and 5122 as two's complement.
  size_t AddIntegers(std::string_view type, int component, const std::vector<uint32_t>& values,
                     bool is_normalized = false);
  // A mesh of one primitive, and a node of the first scene that shows it.
  void AddMesh(nlohmann::json primitive);

  std::string Glb() const;
  // The buffer at `uri`, or within the file as base64 when it is empty.
  std::string Gltf(std::string_view uri = {}) const;
};

std::string Base64(std::string_view bytes);
// A GLB of these chunks, as they are.
std::string GlbOf(std::string_view json, std::string_view binary);
// The smallest PNG: one texel.
std::string TinyPng();

struct Surface {
  std::vector<float> positions;
  std::vector<float> normals;
  std::vector<float> texcoords;
  std::vector<uint32_t> indices;
};
// 24 vertices; edge 2, centre at (10, 0, 0).
Surface Cube();
// columns x rows quads over [-1, 1] x [0, 3], waved; smooth normals, texture coordinates 0 to 1.
Surface Waves(uint32_t columns, uint32_t rows);

// attributes and indices (16 or 32 bits, as needed) of a surface.
nlohmann::json AddSurface(GltfBuilder& builder, const Surface& surface);

// Whole scenes.
GltfBuilder CubeScene();
// A wave that hangs on two joints, with an animation of one.
GltfBuilder SkinnedScene();
// A wave with two targets (one with normals), weights and an animation of them.
GltfBuilder MorphScene();
// Two primitives with materials whose textures are a file, a view and a data URI.
GltfBuilder MaterialsScene();

}  // namespace galley::worker::mesh
