// The facts in a JSON file that decide how it is cooked. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::init {

struct JsonFacts {
  std::string why_not;  // why the data cooker would refuse it, as "not JSON"; "": it would not
  std::vector<std::string> references;  // of {"$ref": ...}, {"$soft": ...} and {"$editor": ...}
};
JsonFacts ReadJson(std::string_view text);

// The use of a texture, by the slot of a material.
enum class TextureUse { kColor, kNormal, kData };

struct GltfImage {
  std::string path;  // decoded, as written: relative to the file
  TextureUse use = TextureUse::kColor;
};
struct GltfFacts {
  // Why the mesh cooker would refuse it; "": it would not, as far as this tells.
  std::string why_not;
  std::vector<std::string> buffers;  // beside it; decoded, as written
  std::vector<GltfImage> images;     // beside it, that a material uses; once for each use
};
// `bytes`: of a .gltf or a .glb (told apart by the first bytes); of a .glb at least its JSON chunk.
GltfFacts ReadGltf(std::string_view bytes);

}  // namespace galley::init
