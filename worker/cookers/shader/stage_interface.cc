#include "worker/cookers/shader/stage_interface.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Variables = std::vector<InterfaceVariable>;

// The number of locations that a value takes, without array dimensions beyond its own type's (GLSL
// 4.60, 4.4.1): one for each column, two where a column is longer than 16 bytes. Stops counting
// above kLocationsMax, since each structure in a structure may double the number.
uint64_t LocationsOf(spvc_compiler compiler, spvc_type_id type_id) {
  const spvc_type type = spvc_compiler_get_type_handle(compiler, type_id);
  uint64_t locations = 0;
  if (spvc_type_get_basetype(type) == SPVC_BASETYPE_STRUCT) {
    const unsigned members = spvc_type_get_num_member_types(type);
    for (unsigned i = 0; i < members && locations <= kLocationsMax; ++i)
      locations += LocationsOf(compiler, spvc_type_get_member_type(type, i));
  } else {
    const unsigned column_bits = spvc_type_get_bit_width(type) * spvc_type_get_vector_size(type);
    locations = uint64_t{spvc_type_get_columns(type)} * (column_bits > 128 ? 2 : 1);
  }
  for (unsigned i = 0; i < spvc_type_get_num_array_dimensions(type); ++i) {
    if (!spvc_type_array_dimension_is_literal(type, i)) continue;
    locations = std::min(locations, kLocationsMax + 1) * spvc_type_get_array_dimension(type, i);
  }
  return std::min(locations, kLocationsMax + 1);
}

// Adds a block's members: the block has a location for its first member and the others follow, or
// each member has its own.
absl::Status AddMembers(const CrossModule& module, const spvc_reflected_resource& resource,
                        Variables& variables) {
  const spvc_compiler compiler = module.compiler();
  const spvc_type_id block_id = resource.base_type_id;
  const spvc_type block = spvc_compiler_get_type_handle(compiler, block_id);
  const std::string block_name = VariableNameOf(module, resource.id, block_id);
  uint64_t next = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationLocation);
  for (unsigned i = 0; i < spvc_type_get_num_member_types(block); ++i) {
    if (spvc_compiler_has_member_decoration(compiler, block_id, i, SpvDecorationLocation))
      next = spvc_compiler_get_member_decoration(compiler, block_id, i, SpvDecorationLocation);
    const spvc_type_id type = spvc_type_get_member_type(block, i);
    variables.push_back({.id = resource.id,
                         .variable_type = resource.type_id,
                         .block_type = block_id,
                         .index = i,
                         .type = type,
                         .name = fmt::format("{}.{}", block_name,
                                             spvc_compiler_get_member_name(compiler, block_id, i)),
                         .location = static_cast<uint32_t>(next),
                         .component = spvc_compiler_get_member_decoration(compiler, block_id, i,
                                                                          SpvDecorationComponent)});
    const uint64_t locations = LocationsOf(compiler, type);
    if (locations > kLocationsMax)
      return VerdictError("{} takes more than {} locations", variables.back().name, kLocationsMax);
    next += locations;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Variables> ListInterface(const CrossModule& module, spvc_resource_type type) {
  const spvc_compiler compiler = module.compiler();
  ASSIGN_OR_RETURN(const auto resources, module.Resources(type));
  Variables variables;
  for (const spvc_reflected_resource& resource : resources) {
    if (spvc_compiler_has_decoration(compiler, resource.base_type_id, SpvDecorationBlock)) {
      RETURN_IF_ERROR(AddMembers(module, resource, variables));
      continue;
    }
    variables.push_back(
        {.id = resource.id,
         .variable_type = resource.type_id,
         .block_type = 0,
         .index = std::nullopt,
         .type = resource.type_id,
         .name = spvc_compiler_get_name(compiler, resource.id),
         .location = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationLocation),
         .component = spvc_compiler_get_decoration(compiler, resource.id, SpvDecorationComponent)});
  }
  std::ranges::sort(variables, [](const InterfaceVariable& a, const InterfaceVariable& b) {
    return std::tie(a.location, a.component, a.name) < std::tie(b.location, b.component, b.name);
  });
  return variables;
}

std::string VariableNameOf(const CrossModule& module, uint32_t id, uint32_t base_type) {
  const std::string name = spvc_compiler_get_name(module.compiler(), id);
  return name.empty()
             ? fmt::format("{}_block", spvc_compiler_get_name(module.compiler(), base_type))
             : name;
}

}  // namespace galley::worker
