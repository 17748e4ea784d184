// ShaderTarget: what a platform's `shader` asks for: a language, its version, and the SPIR-V that
// leads there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glslang/Public/ShaderLang.h"

namespace galley::worker {

enum class ShaderLanguage { kSpirv, kEssl, kMsl };

struct ShaderTarget {
  std::string name;  // "essl-310"
  ShaderLanguage language;
  unsigned version;  // kEssl: 300, 310, 320; kMsl: as spirv-cross counts, 2.1 is 20100; else 0
  // The module that is compiled: the output itself, or what spirv-cross reads.
  glslang::EShTargetLanguageVersion spirv;
  glslang::EShTargetClientVersion vulkan;
  int tools_environment;  // spv_target_env
};

// "spirv-1.0".."spirv-1.6" (for the oldest Vulkan that takes that version), "essl-300", "essl-310",
// "essl-320", "msl-2.0".."msl-2.4". INVALID_ARGUMENT names them all.
absl::StatusOr<ShaderTarget> ParseShaderTarget(std::string_view text);

// ".spv", ".essl", ".msl".
std::string_view SuffixOf(ShaderLanguage language);

// "frag" and so on; nullopt: no stage.
std::optional<EShLanguage> ParseStage(std::string_view extension);

// INVALID_ARGUMENT: the target has no such stage; says which have it.
absl::Status CheckStage(const ShaderTarget& target, EShLanguage stage);

}  // namespace galley::worker
