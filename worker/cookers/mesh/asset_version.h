// CheckAssetVersion: the version check of a glTF file.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// INVALID_ARGUMENT: glTF 2.0 is not enough for the file. `minVersion` decides where the file has it
// (glTF 2.0, 3.2), else the major number of `version`. A version above 2.0 is a warning.
absl::Status CheckAssetVersion(const Json& json, Warnings& warnings);

}  // namespace galley::worker::mesh
