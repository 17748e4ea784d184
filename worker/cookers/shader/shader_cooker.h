// Shader: Vulkan GLSL to SPIR-V, ESSL or MSL, and a reflection (docs/cookers/shader.md).
//
// Observes the platform parameter `shader` and every path where an include was looked for. Load
// does nothing.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateShaderCooker();

}  // namespace galley::worker
