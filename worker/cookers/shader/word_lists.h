// Word lists: words separated by blanks, for reserved_words.cc.
#pragma once

#include <string_view>

namespace galley::worker {

// The OpenGL ES Shading Language (ESSL) 3.20, 3.8 "Keywords", also words reserved for future use;
// and the keywords of GLSL 4.60 and its extensions, which spirv-cross renames for every target.
extern const std::string_view kGlslWords;
// ESSL 3.20, chapter 8 "Built-in Functions", and the functions of GLSL 4.60.
extern const std::string_view kGlslFunctions;

// ISO C++14, 2.12 "Keywords" with the alternative tokens, and the keywords of later revisions.
extern const std::string_view kCppWords;
// Metal Shading Language Specification: address spaces, function qualifiers, enumerations and
// namespaces that `using namespace metal` brings.
extern const std::string_view kMslWords;
// Metal Shading Language Specification, chapter 2 "Data Types".
extern const std::string_view kMslTypes;
// Metal Shading Language Specification, chapters 5 "Variables" and 6 "Metal Standard Library".
extern const std::string_view kMslFunctions;
// Macros: the limits and constants of <metal_stdlib>, and the macros of its own headers.
extern const std::string_view kMslMacros;

}  // namespace galley::worker
