// Textures of materials: taken out of the glTF, and named in `extras.galley` of the material.
//
//   "extras": {"galley": {"baseColor": {
//       "texture": "textures/wall.png",     path as written, percent-decoded; or "_gen/<name>"
//       "texcoord": 0,
//       "sampler": {"wrapS": 33071},        as in the source; absent when there is none
//       "transform": {"scale": [2, 2]},     KHR_texture_transform without its texCoord
//       "scale": 0.5, "strength": 0.8 }}}   further members of the texture info
//
// A slot is the member's name without "Texture": baseColor, metallicRoughness, normal, occlusion,
// emissive, clearcoat, clearcoatNormal, sheenColor, ...
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/document.h"
#include "worker/cookers/mesh/image_source.h"

namespace galley::worker::mesh {

struct GeneratedImage {
  std::string name;  // "_gen/bark.png"
  std::string bytes;
  std::string cooker;
  std::string settings_json;
};

inline constexpr uint64_t kNoNormalMap = UINT64_MAX;

struct TakenTextures {
  std::vector<std::string> references;  // each once, in the order of materials and slots
  // The references that are files beside the source.
  std::set<std::pair<std::string, ImageUse>> files;
  std::vector<GeneratedImage> generated;
  // By material: the set of texture coordinates of its normal map, or else of its clearcoat's
  // normal map, with the override of KHR_texture_transform; kNoNormalMap: no normal map was taken.
  std::vector<uint64_t> normal_map_texcoords;
  // By material: the sets of its textures that are no normal maps.
  std::vector<std::set<uint64_t>> texcoords;
};

// Rewrites materials, and removes `images`, `textures` and `samplers`. An image that no material
// uses becomes no reference. INVALID_ARGUMENT: a missing index, an index out of range, a URI that
// is no relative path, or an embedded image of a kind that no cooker reads. Warnings go to the
// document.
absl::StatusOr<TakenTextures> TakeTextures(Document& document);

}  // namespace galley::worker::mesh
