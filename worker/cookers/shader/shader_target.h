// ShaderTarget: the platform parameter `shader`: a language, its version, and the SPIR-V that is
// compiled first.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glslang/Public/ShaderLang.h"

namespace galley::worker {

enum class ShaderLanguage { kSpirv, kEssl, kMsl };
inline constexpr ShaderLanguage kShaderLanguages[] = {ShaderLanguage::kSpirv, ShaderLanguage::kEssl,
                                                      ShaderLanguage::kMsl};

struct ShaderTarget {
  std::string name;  // "essl-310"
  ShaderLanguage language;
  unsigned version;  // kEssl: 300, 310, 320; kMsl: as spirv-cross counts, 2.1 is 20100; else 0
  // The compiled module: the output itself, or the input of spirv-cross.
  glslang::EShTargetLanguageVersion spirv;
  glslang::EShTargetClientVersion vulkan;
  int tools_environment;  // spv_target_env
};

// "spirv-1.0".."spirv-1.6" for the oldest Vulkan with that version, "essl-300", "essl-310",
// "essl-320", "msl-2.0".."msl-2.4". INVALID_ARGUMENT names all targets.
absl::StatusOr<ShaderTarget> ParseShaderTarget(std::string_view text);

// ".spv", ".essl", ".msl".
std::string_view SuffixOf(ShaderLanguage language);

// "spirv-", "essl-", "msl-": the names of the language's targets, and of no others, begin so.
std::string_view PrefixOf(ShaderLanguage language);

// "frag" and so on; nullopt: no stage has this extension.
std::optional<EShLanguage> ParseStage(std::string_view extension);

// INVALID_ARGUMENT: the target has no such stage; the message says which targets have it.
absl::Status CheckStage(const ShaderTarget& target, EShLanguage stage);

}  // namespace galley::worker
