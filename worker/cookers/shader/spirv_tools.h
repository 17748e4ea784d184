// SPIRV-Tools: checks and optimises modules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace galley::worker {

// "spirv-tools=v2023.1".
std::string SpirvToolsIdentity();

// The fault that spirv-val finds in the module; empty: the module is valid. `environment`:
// spv_target_env.
std::string FindInvalid(const std::vector<uint32_t>& module, int environment);

// Runs the performance passes except those that miscompile. Ids of variables stay as they are.
// INTERNAL: the optimiser failed.
absl::StatusOr<std::vector<uint32_t>> OptimizeSpirv(const std::vector<uint32_t>& module,
                                                    int environment, bool strips_names);

// The module without names, otherwise unchanged.
absl::StatusOr<std::vector<uint32_t>> StripNames(const std::vector<uint32_t>& module,
                                                 int environment);

// The words in little-endian order.
std::string SpirvBytes(const std::vector<uint32_t>& module);

}  // namespace galley::worker
