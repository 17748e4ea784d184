// SPIR-V of one shader: compiled by glslang, optimised and checked by SPIRV-Tools.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "glslang/Public/ShaderLang.h"
#include "worker/cookers/shader/includes.h"

namespace galley::worker {

// "1;glslang=12.0.0;spirv-tools=v2023.1": what decides the bytes.
std::string SpirvIdentity();

struct SpirvTarget {
  glslang::EShTargetLanguageVersion language;
  glslang::EShTargetClientVersion client;
  int tools_environment;  // spv_target_env
};

// "spirv-1.0".."spirv-1.6": the oldest Vulkan that takes that version. nullopt: no such target.
std::optional<SpirvTarget> ParseSpirvTarget(std::string_view text);
// "frag" and so on; nullopt: no stage.
std::optional<EShLanguage> ParseStage(std::string_view extension);

struct CompileRequest {
  std::string_view source;
  EShLanguage stage;
  SpirvTarget target;
  std::string preamble;  // lines of `#define`
  bool optimize = true;
};

struct Compiled {
  std::string spirv;                  // words in little-endian order
  std::vector<std::string> warnings;  // the compiler's, one a line
};

// INVALID_ARGUMENT: all messages of the compiler, each "ERROR: file:line: text". INTERNAL: the
// optimiser failed, or the module is not valid (a bug of the tools). Otherwise what the context
// answered to an include's look.
absl::StatusOr<Compiled> CompileToSpirv(const CompileRequest& request, Includes& includes);

}  // namespace galley::worker
