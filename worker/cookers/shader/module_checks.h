// Module checks: limits on a SPIR-V module, checked before libraries read the module: the libraries
// walk types and calls by recursion, and unfold them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace galley::worker {

// The validator's time grows with the cube of this depth, the optimiser's with the square of the
// limits below.
inline constexpr uint64_t kControlDepthMax = 400;
// The limit for a function with all calls inlined.
inline constexpr uint64_t kOptimizedInstructionsMax = 100'000;
inline constexpr uint64_t kLocalElementsMax = 16'384;

// REQUIRES: glslang wrote the module. INVALID_ARGUMENT names the structure that has too many
// members or nests too deep (limits: text_guard.h).
absl::Status CheckModuleTypes(const std::vector<uint32_t>& module);

// REQUIRES: glslang wrote the module. INVALID_ARGUMENT: nested deeper than kControlDepthMax.
absl::Status CheckModuleNesting(const std::vector<uint32_t>& module);

// Says why the optimiser, which inlines calls and replaces structures by variables, would take too
// long; empty: it would not. REQUIRES: glslang wrote the module.
std::string FindTooMuchToOptimize(const std::vector<uint32_t>& module);

// INVALID_ARGUMENT names a specialisation constant without an id of its own, because its default is
// another constant, or computed from others. REQUIRES: glslang wrote the module.
absl::Status CheckSpecializationConstants(const std::vector<uint32_t>& module);

}  // namespace galley::worker
