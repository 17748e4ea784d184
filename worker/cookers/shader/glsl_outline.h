// GlslOutline: facts about a shader's text that need no compiler, and the name of the flaw for
// which the compiler refuses a text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace galley::worker {

struct GlslOutline {
  std::vector<std::string> includes;  // the names in `#include "x"` and `#include <x>`, in order
  bool has_main = false;              // the word `main` is somewhere in the text
  std::string version;                // in the first #version: "450"; "": there is none
  std::string profile;                // "es", "core", "compatibility"
  bool is_hlsl = false;               // the text has words of HLSL, and no #version
};

// Comments are skipped; all branches of #if are read.
GlslOutline ReadGlslOutline(std::string_view text);

// The flaw in a few words that are the same for all shaders with this flaw: "GLSL of #version 120:
// Vulkan takes 140 and later". `messages`: the compiler's, for this text.
std::string FindGlslFlaw(std::string_view text, std::string_view messages);

}  // namespace galley::worker
