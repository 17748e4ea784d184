// Target names: the names of a shader in the text of its target, which reserves more words than
// GLSL.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/reflection.h"
#include "worker/cookers/shader/shader_target.h"

namespace galley::worker {

// The module with the names of WrittenName. Built-in variables (gl_) and the entry point keep their
// names: spirv-cross knows them.
std::vector<uint32_t> NameForTarget(const std::vector<uint32_t>& module, ShaderLanguage language);

// Adds `written` to everything whose name in the text differs from the source's. REQUIRES: `module`
// has been translated.
void RecordWrittenNames(const CrossModule& module, ShaderLanguage language, Reflection& reflection);

}  // namespace galley::worker
