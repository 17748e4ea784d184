// The version check of a glTF file: which ones this cooker reads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/cookers/mesh/json_fields.h"

namespace galley::worker::mesh {

// INVALID_ARGUMENT unless glTF 2.0 is enough for the file: `minVersion` decides where there is one
// (glTF 2.0, 3.2), else the major number of `version`. What is newer than 2.0 is a warning.
absl::Status CheckAssetVersion(const Json& json, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
