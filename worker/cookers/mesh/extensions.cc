#include "worker/cookers/mesh/extensions.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "common/record/warning.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// Extensions that are kept or taken up. Their indices are of nodes, of meshes or of materials
// (whose numbers stay), or are followed.
constexpr std::string_view kKnown[] = {
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",  // decoded
    "EXT_texture_avif",         // taken up like other textures
    "EXT_texture_webp",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "KHR_xmp_json_ld",
    "MSFT_lod",
    "MSFT_texture_dds",
};

bool IsKnown(std::string_view name) {
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

// Calls `visit` for every object "extensions" within `value`, innermost last.
void VisitExtensions(Json& value, const std::function<void(Json&)>& visit) {
  if (value.is_array()) {
    for (Json& element : value) VisitExtensions(element, visit);
    return;
  }
  if (!value.is_object()) return;
  if (Json* extensions = Member(value, "extensions"); extensions != nullptr) {
    if (extensions->is_object()) visit(*extensions);
  }
  for (const auto& item : value.items()) {
    if (!IsAuthorsOwn(item.key())) VisitExtensions(item.value(), visit);
  }
}

// Removes empty "extensions", which glTF does not allow.
void EraseEmptyExtensions(Json& value) {
  if (value.is_array()) {
    for (Json& element : value) EraseEmptyExtensions(element);
    return;
  }
  if (!value.is_object()) return;
  const Json* extensions = Member(value, "extensions");
  if (extensions != nullptr && extensions->is_object() && extensions->empty())
    value.erase("extensions");
  for (const auto& item : value.items()) {
    if (!IsAuthorsOwn(item.key())) EraseEmptyExtensions(item.value());
  }
}

}  // namespace

std::span<const std::string_view> KnownExtensions() { return kKnown; }

bool IsAuthorsOwn(std::string_view key) { return key == "extras" || key == "KHR_xmp_json_ld"; }

absl::Status CheckRequiredExtensions(const Json& json) {
  const Json* required = Array(json, "extensionsRequired");
  if (required == nullptr) {
    const Json* other = Member(json, "extensionsRequired");
    if (other == nullptr) return absl::OkStatus();
    return Flaw("/extensionsRequired", "expected an array, not " + Shown(*other));
  }
  for (const Json& name : *required) {
    if (!name.is_string())
      return Flaw("/extensionsRequired", "expected strings, not " + Shown(name));
    const auto& text = name.get_ref<const std::string&>();
    if (text == "KHR_draco_mesh_compression") {
      return Flaw("/extensionsRequired",
                  "KHR_draco_mesh_compression is not read; export the mesh uncompressed, or with "
                  "EXT_meshopt_compression");
    }
    if (!IsKnown(text)) {
      return Flaw("/extensionsRequired",
                  fmt::format("{} is required and not known here; export without it", Shown(name)));
    }
  }
  return absl::OkStatus();
}

void DropUnknownExtensions(Json& json, Warnings& warnings) {
  std::set<std::string> dropped;
  VisitExtensions(json, [&](Json& extensions) {
    for (auto item = extensions.begin(); item != extensions.end();) {
      if (IsKnown(item.key())) {
        ++item;
      } else {
        dropped.insert(item.key());
        item = extensions.erase(item);
      }
    }
  });
  EraseEmptyExtensions(json);
  for (const std::string& name : dropped)
    warnings.AddKept(record::WarningKind::kMeshExtension,
                     "extension {} is not known here and left out", Shown(name));
}

void ListExtensions(Json& json, bool is_quantized) {
  std::set<std::string> required_before;
  if (const Json* required = Array(json, "extensionsRequired"); required != nullptr) {
    for (const Json& name : *required) required_before.insert(name.get<std::string>());
  }
  json.erase("extensionsUsed");
  json.erase("extensionsRequired");
  EraseEmptyExtensions(json);
  std::set<std::string> used;
  VisitExtensions(json, [&](Json& extensions) {
    for (const auto& item : extensions.items()) used.insert(item.key());
  });
  if (is_quantized) {
    used.insert(kMeshQuantization);
    required_before.insert(kMeshQuantization);
  }
  std::set<std::string> required;
  std::set_intersection(used.begin(), used.end(), required_before.begin(), required_before.end(),
                        std::inserter(required, required.end()));
  if (!used.empty()) json["extensionsUsed"] = used;
  if (!required.empty()) json["extensionsRequired"] = required;
}

}  // namespace galley::worker::mesh
