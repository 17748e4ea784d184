#include "worker/cookers/mesh/extension_places.h"

#include <string_view>

#include "common/record/warning.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/extensions.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

struct Place {
  std::string_view extension;
  std::string_view owner;  // with "*" for indices
};
constexpr Place kPlaces[] = {
    {"EXT_mesh_gpu_instancing", "/nodes/*"},
    {"EXT_meshopt_compression", "/buffers/*"},
    {"EXT_meshopt_compression", "/bufferViews/*"},
    {"EXT_texture_avif", "/textures/*"},
    {"EXT_texture_webp", "/textures/*"},
    {"KHR_lights_punctual", ""},
    {"KHR_lights_punctual", "/nodes/*"},
    {"KHR_materials_variants", ""},
    {"KHR_materials_variants", "/meshes/*/primitives/*"},
    {"KHR_node_visibility", "/nodes/*"},
    {"KHR_texture_basisu", "/textures/*"},
    {"MSFT_lod", "/materials/*"},
    {"MSFT_lod", "/nodes/*"},
    {"MSFT_texture_dds", "/textures/*"},
};

// Whether `extension` may stand at `owner`. True for unknown extensions, which others judge.
bool MayStand(std::string_view extension, std::string_view owner) {
  if (extension == "KHR_texture_transform") return owner.ends_with("Texture");
  if (extension == "KHR_mesh_quantization") return false;  // has no object at all
  if (extension.starts_with("KHR_materials_") && extension != "KHR_materials_variants")
    return owner == "/materials/*";
  bool is_listed = false;
  for (const Place& place : kPlaces) {
    if (place.extension != extension) continue;
    if (place.owner == owner) return true;
    is_listed = true;
  }
  return !is_listed;
}

bool IsKnownExtension(std::string_view name) {
  for (const std::string_view known : KnownExtensions()) {
    if (known == name) return true;
  }
  return false;
}

class Dropper {
 public:
  explicit Dropper(Warnings& warnings) : warnings_(warnings) {}

  void Visit(Json& value, const std::string& owner, const std::string& pointer) {
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i)
        if (value[i].is_structured())
          Visit(value[i], owner + "/*", fmt::format("{}/{}", pointer, i));
      return;
    }
    if (!value.is_object()) return;
    CheckExtensions(value, owner, pointer);
    for (const auto& item : value.items()) {
      if (item.value().is_structured() && !IsAuthorsOwn(item.key()))
        Visit(item.value(), owner + "/" + item.key(), pointer + "/" + item.key());
    }
  }

 private:
  void CheckExtensions(Json& object, const std::string& owner, const std::string& pointer) {
    Json* extensions = Member(object, "extensions");
    if (extensions == nullptr) return;
    if (!extensions->is_object()) {
      Tell(pointer + "/extensions", "expected an object; the value is left out", "TYPE_MISMATCH");
      object.erase("extensions");
      return;
    }
    for (auto item = extensions->begin(); item != extensions->end();) {
      const std::string place = pointer + "/extensions/" + item.key();
      if (IsKnownExtension(item.key()) && !item.value().is_object()) {
        Tell(place, "expected an object; the extension is left out", "TYPE_MISMATCH");
      } else if (IsKnownExtension(item.key()) && !MayStand(item.key(), owner)) {
        Tell(place, "the extension means nothing here, and is left out",
             "UNEXPECTED_EXTENSION_OBJECT");
      } else {
        ++item;
        continue;
      }
      item = extensions->erase(item);
    }
  }
  void Tell(const std::string& place, std::string_view text, std::string_view code) {
    warnings_.AddKept(record::WarningKind::kMeshExtension, "{}: {} ({})", place, text, code);
  }

  Warnings& warnings_;
};

}  // namespace

void DropMisplacedExtensions(Json& json, Warnings& warnings) {
  Dropper(warnings).Visit(json, "", "");
}

}  // namespace galley::worker::mesh
