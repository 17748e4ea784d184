#include "worker/cookers/mesh/mesh_repairs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

void ForgetMesh(Json& node) {
  for (const char* key : {"mesh", "skin", "weights"}) node.erase(key);
  Json* extensions = Member(node, "extensions");
  if (extensions == nullptr) return;
  extensions->erase("EXT_mesh_gpu_instancing");
  if (extensions->empty()) node.erase("extensions");
}

// Gives `weights` a number for each target: extra numbers are left out, missing numbers are 0.
void FitWeights(Json& object, size_t target_count, const std::string& pointer,
                std::string_view code, Warnings& warnings) {
  Json* weights = Array(object, "weights");
  if (weights == nullptr || weights->size() == target_count) return;
  warnings.AddRepair(
      "{}/weights: expected {}, one for each morph target; those too many are left out, and those "
      "that lack are 0 ({})",
      pointer, target_count, code);
  if (target_count == 0) {
    object.erase("weights");
    return;
  }
  while (weights->size() > target_count) weights->erase(weights->size() - 1);
  while (weights->size() < target_count) weights->push_back(0);
}

bool HasJoints(const MeshData& mesh) {
  return std::ranges::any_of(mesh.primitives, [](const Primitive& each) {
    return std::ranges::any_of(each.attributes, [](const Attribute& one) {
      return one.target == kBase && one.semantic.starts_with("JOINTS_");
    });
  });
}

void CheckPrimitive(const Primitive& primitive, const Json& material,
                    const std::set<uint64_t>& texcoords, Warnings& warnings) {
  for (const uint64_t texcoord : texcoords) {
    const std::string semantic = fmt::format("TEXCOORD_{}", texcoord);
    if (primitive.Find(semantic) != nullptr) continue;
    warnings.Add(
        "{}: its material has textures for {}, which the primitive has not "
        "(MESH_PRIMITIVE_TOO_FEW_TEXCOORDS)",
        primitive.pointer, semantic);
  }
  const bool is_anisotropic = Extension(material, "KHR_materials_anisotropy") != nullptr;
  const Json* extras = Member(material, "extras");
  const Json* galley = extras == nullptr ? nullptr : Member(*extras, "galley");
  const bool has_normal_map = galley != nullptr && (Member(*galley, "normal") != nullptr ||
                                                    Member(*galley, "clearcoatNormal") != nullptr);
  if (is_anisotropic && !has_normal_map && primitive.Find("TANGENT") == nullptr) {
    warnings.Add(
        "{}: its material is anisotropic, and there are neither tangents nor a normal map to make "
        "them for (MESH_PRIMITIVE_NO_TANGENT_SPACE)",
        primitive.pointer);
  }
}

}  // namespace

void DropEmptyMeshes(Json& json, std::vector<MeshData>& meshes, Warnings& warnings) {
  constexpr size_t kDropped = SIZE_MAX;
  std::vector<size_t> places(meshes.size(), kDropped);
  Json kept = Json::array();
  for (size_t i = 0; i < meshes.size(); ++i) {
    if (meshes[i].primitives.empty()) {
      warnings.Add("/meshes/{}: the mesh has nothing to draw; it is left out (EMPTY_ENTITY)", i);
      continue;
    }
    places[i] = kept.size();
    kept.push_back(std::move(json["meshes"][i]));
    if (places[i] != i) meshes[places[i]] = std::move(meshes[i]);
  }
  if (!meshes.empty()) {
    meshes.resize(kept.size());
    json["meshes"] = std::move(kept);
    if (meshes.empty()) json.erase("meshes");
  }
  for (size_t i = 0; i < ArraySize(json, "nodes"); ++i) {
    Json& node = json["nodes"][i];
    const Json* mesh = Member(node, "mesh");
    if (mesh == nullptr) continue;
    const size_t place = places[mesh->get<size_t>()];
    if (place == kDropped) {
      ForgetMesh(node);
    } else {
      node["mesh"] = place;
    }
  }
}

void RepairMeshUse(Json& json, const std::vector<MeshData>& meshes, Warnings& warnings) {
  for (size_t i = 0; i < meshes.size(); ++i) {
    FitWeights(json["meshes"][i], meshes[i].target_count, fmt::format("/meshes/{}", i),
               "MESH_INVALID_WEIGHTS_COUNT", warnings);
  }
  std::vector<bool> has_joints;
  for (const MeshData& mesh : meshes) has_joints.push_back(HasJoints(mesh));
  for (size_t i = 0; i < ArraySize(json, "nodes"); ++i) {
    Json& node = json["nodes"][i];
    const Json* mesh = Member(node, "mesh");
    if (mesh == nullptr) continue;
    const size_t index = mesh->get<size_t>();
    const std::string pointer = fmt::format("/nodes/{}", i);
    FitWeights(node, meshes[index].target_count, pointer, "NODE_WEIGHTS_INVALID", warnings);
    if (has_joints[index] || node.erase("skin") == 0) continue;
    warnings.AddRepair(
        "{}/skin: the node's mesh has no joints; it is shown without the skin "
        "(NODE_SKIN_WITH_NON_SKINNED_MESH)",
        pointer);
  }
}

void CheckMaterialUse(const Json& json, const std::vector<MeshData>& meshes,
                      const std::vector<std::set<uint64_t>>& texcoords, Warnings& warnings) {
  for (size_t i = 0; i < meshes.size(); ++i) {
    for (size_t k = 0; k < meshes[i].primitives.size(); ++k) {
      const Json* material = Member(json["meshes"][i]["primitives"][k], "material");
      if (material == nullptr) continue;
      const size_t index = material->get<size_t>();
      CheckPrimitive(meshes[i].primitives[k], json["materials"][index], texcoords[index], warnings);
    }
  }
}

}  // namespace galley::worker::mesh
