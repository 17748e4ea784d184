// The names of a shader in the text of its target, where words are reserved that are none in GLSL.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/reflection.h"
#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// The module with WrittenName's names. Those of the built-in variables (gl_) and of the entry point
// stay: spirv-cross knows them.
std::vector<uint32_t> NameForTarget(const std::vector<uint32_t>& module, ShaderLanguage language);

// Adds `written` to whatever has another name in the text than in the source. `module`: was
// translated by now.
void RecordWrittenNames(const CrossModule& module, ShaderLanguage language, Reflection& reflection);

}  // namespace galley::worker
