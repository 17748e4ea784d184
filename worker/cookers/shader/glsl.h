// Glslang: compiles GLSL to SPIR-V, and checks ESSL that another library wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "glslang/Public/ShaderLang.h"
#include "worker/cookers/shader/includes.h"
#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// "glslang=12.0.0".
std::string GlslangIdentity();

struct GlslRequest {
  std::string_view source;
  EShLanguage stage;
  ShaderTarget target;
  std::string_view preamble;  // lines of `#define`
};

struct CompiledGlsl {
  std::vector<uint32_t> module;       // with names, not optimised, not validated
  std::vector<std::string> warnings;  // the compiler's, a warning a line
};

// INVALID_ARGUMENT: all messages of the compiler, each "ERROR: file:line: text". Other errors are
// the context's, from the look for an include.
absl::StatusOr<CompiledGlsl> CompileGlsl(const GlslRequest& request, Includes& includes);

// INVALID_ARGUMENT: `text` is no legal ESSL of its own #version; the error has the compiler's
// messages, which call the text "essl".
absl::Status CheckEssl(std::string_view text, EShLanguage stage);

}  // namespace galley::worker
