// Reflection: what a shader wants from its host (bindings, push constants, inputs, outputs,
// specialisation constants, local size), and where a target put it. It becomes the `.reflect.cbor`
// of docs/cookers/shader.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// Raised when a field changes its meaning or goes away; new fields do not raise it.
inline constexpr int kReflectionVersion = 2;
// The limit on members of blocks and structures, counted each time a structure is used.
inline constexpr size_t kReflectedMembersMax = 65'536;

enum class BindingKind {
  kSampler,
  kCombinedImageSampler,
  kSampledImage,
  kStorageImage,
  kUniformTexelBuffer,
  kStorageTexelBuffer,
  kUniformBuffer,
  kStorageBuffer,
  kInputAttachment,
  kAccelerationStructure,
};

inline bool IsBuffer(BindingKind kind) {
  return kind == BindingKind::kUniformBuffer || kind == BindingKind::kStorageBuffer;
}

struct ReflectedBinding {
  uint32_t id = 0;  // the variable's
  uint32_t set = 0;
  uint32_t binding = 0;
  BindingKind kind = BindingKind::kUniformBuffer;
  std::string name;         // the variable's, or its block's
  uint32_t count = 1;       // elements of the array of descriptors, by TypeReflector::Count
  bool is_used = true;      // in the output
  std::string format;       // for storage images: "r32ui"; empty: none
  nlohmann::json fields;    // the other members of the JSON
  nlohmann::json location;  // the place in the target; null: none, or the same set and binding
};

struct PushConstants {
  uint32_t id = 0;
  bool is_used = true;
  nlohmann::json fields;
  nlohmann::json location;
};

struct Reflection {
  std::string stage;                       // "frag"
  std::string entry_point;                 // as the target has it
  std::vector<ReflectedBinding> bindings;  // by set, binding, name
  std::optional<PushConstants> push_constants;
  nlohmann::json fields;  // the other members of the top level, also those that the target adds
};

// `named`: the module with names, as compiled. `used`: the variables that the output still has.
// INVALID_ARGUMENT: too many members.
absl::StatusOr<Reflection> Reflect(const CrossModule& named, const std::set<uint32_t>& used,
                                   std::string_view stage);

// Gives names to variables without a name, in a module that is to be translated, so that the text
// does not call them by numbers which an edit elsewhere changes. The names are legal in `language`.
void NameVariables(CrossModule& module, ShaderLanguage language, const Reflection& reflection);

std::string EncodeReflection(const Reflection& reflection, std::string_view target);

}  // namespace galley::worker
