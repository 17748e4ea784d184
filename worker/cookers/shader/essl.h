// ESSL by spirv-cross: turns Vulkan's bindings into OpenGL ES'. docs/cookers/shader.md has the
// rules.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "glslang/Public/ShaderLang.h"
#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/reflection.h"

namespace galley::worker {

struct EsslOptions {
  unsigned version = 310;
  EShLanguage stage = EShLangVertex;
  // OpenGL ES has no sets: binding b of set s is at s * set_stride + b.
  uint32_t set_stride = 0;
  // Remaps the depth of positions, where a stage writes them for the rasteriser.
  bool fix_clip_space = true;
};

// `module`: made for SPVC_BACKEND_GLSL, with names; consumed. `reflection`: of the same shader;
// gets the locations in the text. INVALID_ARGUMENT: something that ESSL of this version cannot
// express, or two things at the same place.
absl::StatusOr<std::string> WriteEssl(CrossModule& module, const EsslOptions& options,
                                      Reflection& reflection);

}  // namespace galley::worker
