#include "worker/cookers/mesh/mesh_passes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/borders.h"
#include "worker/cookers/mesh/geometry.h"
#include "worker/cookers/mesh/quantize.h"
#include "worker/cookers/mesh/tangents.h"
#include "worker/cookers/mesh/textures.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// The materials of a primitive: its own first, then those of its variants.
std::vector<size_t> MaterialsOf(const Json& primitive) {
  std::vector<size_t> materials;
  if (const Json* own = Member(primitive, "material"); own != nullptr)
    materials.push_back(own->get<size_t>());
  const Json* variants = Extension(primitive, "KHR_materials_variants");
  const Json* mappings = variants == nullptr ? nullptr : Array(*variants, "mappings");
  if (mappings == nullptr) return materials;
  for (const Json& mapping : *mappings) {
    if (const Json* material = Member(mapping, "material"); material != nullptr)
      materials.push_back(material->get<size_t>());
  }
  return materials;
}

uint64_t NormalMapOf(const Json& primitive, const std::vector<uint64_t>& texcoords) {
  for (const size_t material : MaterialsOf(primitive)) {
    if (texcoords[material] != kNoNormalMap) return texcoords[material];
  }
  return kNoNormalMap;
}

absl::Status AddTangents(Primitive& primitive, uint64_t texcoord, MemoryBudget& budget,
                         Warnings& warnings) {
  if (!primitive.is_triangles() || texcoord == kNoNormalMap) return absl::OkStatus();
  const std::string semantic = fmt::format("TEXCOORD_{}", texcoord);
  if (primitive.Find(semantic) == nullptr) {
    warnings.Add(
        "{}: its material has a normal map, and it has no {}; no tangents are made "
        "(MESH_PRIMITIVE_TOO_FEW_TEXCOORDS)",
        primitive.pointer, semantic);
    return absl::OkStatus();
  }
  if (primitive.Find("NORMAL") != nullptr && primitive.Find("TANGENT") != nullptr)
    return absl::OkStatus();
  if (primitive.Find("NORMAL") == nullptr) {
    RETURN_IF_ERROR(budget.Take(FlatNormalBytes(primitive), primitive.pointer));
    GenerateFlatNormals(primitive);
  }
  GenerateTangents(primitive, texcoord);
  return absl::OkStatus();
}

absl::Status AbsorbGrids(Scene& scene, const Grids& grids) {
  for (size_t i = 0; i < scene.inverse_binds.size(); ++i) {
    if (!grids.of_skin[i] || grids.of_skin[i]->IsIdentity()) continue;
    std::optional<Stream>& matrices = scene.inverse_binds[i];
    if (!matrices) {
      matrices = MakeStream({.component = Component::kFloat, .shape = Shape::kMat4},
                            scene.json["skins"][i]["joints"].size());
      for (size_t element = 0; element < matrices->count; ++element) {
        for (size_t diagonal = 0; diagonal < 16; diagonal += 5)
          PutFloat(*matrices, element, diagonal, 1);
      }
    }
    AbsorbGrid(*matrices, *grids.of_skin[i]);
    const std::vector<float> values = ToFloats(*matrices);
    if (!std::ranges::all_of(values, [](float each) { return std::isfinite(each); })) {
      return Flaw(fmt::format("/skins/{}/inverseBindMatrices", i),
                  "the matrices and positions are too large together to be quantised; set quantize "
                  "to false");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddTangents(Scene& scene, const std::vector<uint64_t>& texcoords, Warnings& warnings) {
  for (size_t i = 0; i < scene.meshes.size(); ++i) {
    std::vector<Primitive>& primitives = scene.meshes[i].primitives;
    for (size_t k = 0; k < primitives.size(); ++k) {
      const Json& json = scene.json["meshes"][i]["primitives"][k];
      RETURN_IF_ERROR(
          AddTangents(primitives[k], NormalMapOf(json, texcoords), scene.budget, warnings));
    }
  }
  return absl::OkStatus();
}

absl::Status QuantizeScene(Scene& scene, Warnings& warnings) {
  const Grids grids = PlanGrids(scene.json, scene.meshes);
  for (size_t i = 0; i < scene.meshes.size(); ++i) {
    for (Primitive& primitive : scene.meshes[i].primitives) {
      QuantizeAttributes(primitive, warnings);
      if (grids.of_mesh[i]) QuantizePositions(primitive, *grids.of_mesh[i]);
    }
  }
  RETURN_IF_ERROR(AbsorbGrids(scene, grids));
  PlaceMeshes(scene.json, grids);
  return absl::OkStatus();
}

void NormalizeScene(Scene& scene, Warnings& warnings) {
  for (MeshData& mesh : scene.meshes) {
    for (Primitive& primitive : mesh.primitives) NormalizeAttributes(primitive, warnings);
  }
}

void OptimizeScene(Scene& scene) {
  for (MeshData& mesh : scene.meshes) {
    for (Primitive& primitive : mesh.primitives) {
      if (!primitive.is_triangles()) continue;
      WeldVertices(primitive);
      OptimizeOrder(primitive);
    }
  }
}

LevelMaker::LevelMaker(const Scene& whole, double error_max)
    : whole_(whole), error_max_(error_max), level_(whole) {
  for (const MeshData& mesh : whole.meshes) locked_.push_back(FindSharedBorders(mesh));
}

const Scene& LevelMaker::Next(double ratio) {
  for (size_t i = 0; i < whole_.meshes.size(); ++i) {
    for (size_t k = 0; k < whole_.meshes[i].primitives.size(); ++k) {
      const Primitive& whole = whole_.meshes[i].primitives[k];
      if (!whole.is_triangles()) continue;
      std::optional<Primitive> simple = Simplified(
          whole, {.ratio = ratio, .error_max = error_max_, .is_border_locked = locked_[i][k]});
      Primitive& before = level_.meshes[i].primitives[k];
      if (simple && simple->indices.size() < before.indices.size()) before = *std::move(simple);
    }
  }
  return level_;
}

}  // namespace galley::worker::mesh
