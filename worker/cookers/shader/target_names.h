// Target names: renames a shader's identifiers for its target, which reserves more words than GLSL.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/reflection.h"
#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// The module with names from WrittenName, except for built-in variables (gl_) and the entry point,
// which spirv-cross knows.
std::vector<uint32_t> NameForTarget(const std::vector<uint32_t>& module, ShaderLanguage language);

// Adds `written` to everything in `reflection` that was renamed. REQUIRES: `module` has been
// translated.
void RecordWrittenNames(const CrossModule& module, ShaderLanguage language, Reflection& reflection);

}  // namespace galley::worker
