// GlslOutline: what the text of a shader says before a compiler reads it, and what is wrong with a
// text that the compiler refuses. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::worker {

struct GlslOutline {
  std::vector<std::string> includes;  // the names in `#include "x"` and `#include <x>`, in order
  bool has_main = false;              // the word stands somewhere
  std::string version;                // of the first #version: "450"; "": there is none
  std::string profile;                // "es", "core", "compatibility"
  bool is_hlsl = false;               // it has words of HLSL, and no #version
};

// Comments say nothing; all branches of #if are read.
GlslOutline ReadGlslOutline(std::string_view text);

// In a few words that are the same for all shaders with this flaw: "GLSL of #version 120: Vulkan
// takes 140 and later". `messages`: the compiler's, for this text.
std::string FindGlslFlaw(std::string_view text, std::string_view messages);

}  // namespace galley::worker
