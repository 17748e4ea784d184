// RandomShader: random compute shaders, for the comparison of optimised with plain SPIR-V.
//
// A shader reads 16 integers at binding 0 and writes 16 for each of its 16 invocations at binding
// 1. It has loops (for, while, do), breaks, continues, switches that fall through, early returns,
// functions with inout parameters, globals, arrays, vectors and structures, over integers only. Its
// result is defined: no division by zero, no shift beyond the width, no index out of range, no
// variable without a value. Each loop ends after at most four rounds.
#pragma once

#include <cstdint>
#include <string>

namespace galley::worker {

inline constexpr int kRandomShaderInputs = 16;
inline constexpr int kRandomShaderInvocations = 16;
inline constexpr int kRandomShaderResults = 16;  // for each invocation

// GLSL of a compute shader; equal seeds give equal text.
std::string RandomShader(uint64_t seed);

}  // namespace galley::worker
