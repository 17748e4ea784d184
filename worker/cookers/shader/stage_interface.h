// The inputs or outputs of a stage, one for each location: blocks are taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/shader/cross_module.h"

namespace galley::worker {

// The most locations of one value; devices have a hundred.
inline constexpr uint64_t kLocationsMax = 65'536;

struct InterfaceVariable {
  uint32_t id = 0;                // the variable's, or its block's
  uint32_t variable_type = 0;     // the variable's, or its block's
  uint32_t block_type = 0;        // of a block's member; else 0
  std::optional<unsigned> index;  // of a block's member
  uint32_t type = 0;              // its own
  std::string name;               // "color", "block.color"
  uint32_t location = 0;
  uint32_t component = 0;
};

// `type`: SPVC_RESOURCE_TYPE_STAGE_INPUT or SPVC_RESOURCE_TYPE_STAGE_OUTPUT. Built-in variables are
// left out. By location, component, name. INVALID_ARGUMENT: a value takes more than kLocationsMax.
absl::StatusOr<std::vector<InterfaceVariable>> ListInterface(const CrossModule& module,
                                                             spvc_resource_type type);

// The name of a variable; of a block without instance name the block's with "_block" behind it.
std::string VariableNameOf(const CrossModule& module, uint32_t id, uint32_t base_type);

}  // namespace galley::worker
