// TypeReflector: the types of a module in GLSL's words, for reflection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/shader/cross_module.h"

namespace galley::worker {

// Describes the types of a module; counts members over all calls.
// Threads: none.
class TypeReflector {
 public:
  // REQUIRES: `module` outlives this object.
  explicit TypeReflector(const CrossModule& module) : module_(module) {}

  // {"type": "vec3"}; with "array" for an array (outermost first; 0: not known here), and with
  // "struct" and "members" ({name, type, ...}) for a structure. INVALID_ARGUMENT: more than
  // kReflectedMembersMax members.
  absl::StatusOr<nlohmann::json> Value(uint32_t type_id);
  // Puts the dimensions of an array of blocks before the dimensions of a member.
  void PrependArray(uint32_t type_id, nlohmann::json& value) const;
  // {"size", "members"} of a block, with offsets and strides. "size" counts a runtime array at the
  // end as empty.
  absl::StatusOr<nlohmann::json> Block(uint32_t type_id);
  // {"dim", "arrayed", "multisampled", "sampled", ...} of an image, alone or with its sampler.
  nlohmann::json Image(uint32_t type_id) const;
  // The number of elements of an array of descriptors: 1 for no array, 0 when not known here.
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
