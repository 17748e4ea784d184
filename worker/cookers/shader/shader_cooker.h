// Shader: Vulkan GLSL to SPIR-V, ESSL or MSL, and a reflection. docs/cookers/shader.md describes
// it.
//
// Observes the platform's "shader" and every place where an include was looked for. Everything
// happens in Cook.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateShaderCooker();

}  // namespace galley::worker
