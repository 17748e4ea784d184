// The facts that the text of a shader tells without a compiler. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::init {

// The text without comments, with lines joined that end in a backslash.
std::string WithoutComments(std::string_view text);

// The names in `#include "x"` and `#include <x>`, in order.
// REQUIRES: no comments in the text.
std::vector<std::string> IncludesOf(std::string_view text);

// Why the shader cooker, which compiles Vulkan GLSL, would refuse the text, as "GLSL of #version
// 120"; "" when nothing speaks against it. Branches of #if whose condition this function cannot
// tell are left out of the judgement. `text`: without comments, its includes filled in.
std::string WhyNoVulkanGlsl(std::string_view text);

// True when the text asks for what SPIR-V has from 1.4 on only (ray queries, mesh shading).
bool WantsLateSpirv(std::string_view text);

}  // namespace galley::init
