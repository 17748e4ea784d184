#include "worker/cookers/mesh/mesh_settings.h"

#include "worker/cookers/verdict_error.h"

namespace galley::worker::mesh {

using record::SettingType;

std::vector<record::SettingDescription> DescribeMeshSettings() {
  return {
      {.name = "quantize",
       .type = SettingType::kBool,
       .default_json = "true",
       .documentation = "Whether vertex attributes become integers of 8 and 16 bits "
                        "(KHR_mesh_quantization)."},
      {.name = "lods",
       .type = SettingType::kNumberList,
       .default_json = "[]",
       .documentation = "Further levels of detail, each by the part of the triangles that it aims "
                        "at: [0.5, 0.25] makes .d/lod1.glb and .d/lod2.glb."},
      {.name = "lod_error",
       .type = SettingType::kNumber,
       .default_json = "0.05",
       .documentation = "How far a level of detail may lie off the surface, as a part of the "
                        "primitive's extent; goes before `lods`."},
  };
}

absl::StatusOr<MeshSettings> ParseMeshSettings(const nlohmann::json& settings) {
  MeshSettings parsed;
  parsed.quantize = settings.at("quantize").get<bool>();
  parsed.lods = settings.at("lods").get<std::vector<double>>();
  parsed.lod_error = settings.at("lod_error").get<double>();
  if (parsed.lods.size() > kLodsMax)
    return VerdictError("setting \"lods\": at most {} levels", kLodsMax);
  double before = 1;
  for (const double ratio : parsed.lods) {
    if (!(ratio > 0 && ratio < before)) {
      return VerdictError(
          "setting \"lods\": {} must lie between 0 and {}; expected falling parts of 1", ratio,
          before);
    }
    before = ratio;
  }
  if (!(parsed.lod_error >= 0 && parsed.lod_error <= 1))
    return VerdictError("setting \"lod_error\": expected 0 to 1, not {}", parsed.lod_error);
  return parsed;
}

}  // namespace galley::worker::mesh
