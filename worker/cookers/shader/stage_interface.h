// Stage interface: the inputs or outputs of a stage, each with its location; blocks are taken
// apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/shader/cross_module.h"

namespace galley::worker {

// The most locations of a value; devices have a hundred.
inline constexpr uint64_t kLocationsMax = 65'536;

struct InterfaceVariable {
  uint32_t id = 0;                // the variable's, or its block's
  uint32_t variable_type = 0;     // the variable's, or its block's
  uint32_t block_type = 0;        // a block member's block; else 0
  std::optional<unsigned> index;  // a block member's index
  uint32_t type = 0;              // the type of the variable or member itself
  std::string name;               // "color", "block.color"
  uint32_t location = 0;
  uint32_t component = 0;
};

// Lists variables by location, component and name, without the built-in ones. `type`:
// SPVC_RESOURCE_TYPE_STAGE_INPUT or SPVC_RESOURCE_TYPE_STAGE_OUTPUT. INVALID_ARGUMENT: a value
// takes more than kLocationsMax locations.
absl::StatusOr<std::vector<InterfaceVariable>> ListInterface(const CrossModule& module,
                                                             spvc_resource_type type);

// The name of a variable; for a block without an instance name, the block's name and "_block".
std::string VariableNameOf(const CrossModule& module, uint32_t id, uint32_t base_type);

}  // namespace galley::worker
