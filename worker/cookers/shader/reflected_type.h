// TypeReflector: describes the types of a SPIR-V module as JSON for the reflection (reflection.h),
// with GLSL's names of types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/shader/cross_module.h"

namespace galley::worker {

// Counts the members in all calls, for the limit kReflectedMembersMax.
// Threads: none.
class TypeReflector {
 public:
  // REQUIRES: `module` outlives this object.
  explicit TypeReflector(const CrossModule& module) : module_(module) {}

  // Describes any type: {"type": "vec3"}. An array has also "array": its dimensions, the outermost
  // first; 0: the dimension is not known when the shader is cooked. A structure has also "struct"
  // and "members" ({name, type, ...}). INVALID_ARGUMENT: more than kReflectedMembersMax members.
  absl::StatusOr<nlohmann::json> Value(uint32_t type_id);
  // Puts the dimensions of the array type `type_id` before the dimensions in `value`, which
  // describes a member of the array's elements.
  void PrependArray(uint32_t type_id, nlohmann::json& value) const;
  // Describes a block: {"size", "members"}, with offsets and strides. "size" counts a runtime array
  // at the end as empty.
  absl::StatusOr<nlohmann::json> Block(uint32_t type_id);
  // Describes an image, or a combined image and sampler: {"dim", "arrayed", "multisampled",
  // "sampled", ...}.
  nlohmann::json Image(uint32_t type_id) const;
  // Returns the number of elements in an array of descriptors. 1: no array; 0: not known when the
  // shader is cooked.
  uint32_t Count(uint32_t type_id) const;

 private:
  absl::StatusOr<nlohmann::json> Describe(uint32_t type_id, bool has_layout);
  absl::StatusOr<nlohmann::json> Members(uint32_t type_id, bool has_layout);
  absl::Status AddLayout(spvc_type block, unsigned index, nlohmann::json& member) const;
  nlohmann::json Array(spvc_type type) const;
  uint32_t Dimension(spvc_type type, unsigned index) const;

  const CrossModule& module_;
  size_t members_ = 0;
};

// "rgba8"; empty for SpvImageFormatUnknown.
std::string ImageFormatName(SpvImageFormat format);

}  // namespace galley::worker
