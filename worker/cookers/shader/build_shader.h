// BuildShader: a compilation from GLSL to the output of a target: compiled, checked, optimised,
// reflected, translated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/shader/glsl.h"
#include "worker/cookers/shader/includes.h"

namespace galley::worker {

struct BuildRequest {
  GlslRequest glsl;
  std::string stage_name;  // "frag"
  bool optimize = true;
  uint32_t set_stride = 0;     // for ESSL
  bool fix_clip_space = true;  // for ESSL and MSL
};

struct BuiltShader {
  std::string bytes;       // .spv, .essl or .msl
  std::string reflection;  // .reflect.cbor
  std::vector<std::string> warnings;
};

// "glslang=12.0.0;spirv-tools=v2023.1;spirv-cross=0.54.0-1c2d3e4f": the libraries that decide the
// bytes.
std::string BuildIdentity();

// INVALID_ARGUMENT: the compiler's messages, or something that the target cannot express. Other
// errors are the context's, from the look for an include. Where the optimiser fails, or makes an
// invalid module, the shader is written without optimisation, with a warning.
absl::StatusOr<BuiltShader> BuildShader(const BuildRequest& request, Includes& includes);

}  // namespace galley::worker
