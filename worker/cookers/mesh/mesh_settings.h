// MeshSettings: the settings that a recipe gives the mesh cooker.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/record/cooker_description.h"
#include "nlohmann/json.hpp"

namespace galley::worker::mesh {

inline constexpr size_t kLodsMax = 16;

struct MeshSettings {
  bool quantize = true;
  std::vector<double> lods;  // parts of the triangles, each in (0, 1), falling
  double lod_error = 0;
};

std::vector<record::SettingDescription> DescribeMeshSettings();

// INVALID_ARGUMENT names the setting and what was expected.
absl::StatusOr<MeshSettings> ParseMeshSettings(const nlohmann::json& settings);

}  // namespace galley::worker::mesh
