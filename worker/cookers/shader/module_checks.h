// What a SPIR-V module asks of the libraries that read it, counted before they do: they walk types
// and calls by recursion, and unfold them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace galley::worker {

// The validator's time grows with the cube of this, the optimiser's with the square of the others.
inline constexpr uint64_t kControlDepthMax = 400;
// Of a function, each call replaced by what it calls.
inline constexpr uint64_t kOptimizedInstructionsMax = 100'000;
inline constexpr uint64_t kLocalElementsMax = 16'384;

// REQUIRES: a module that glslang wrote. INVALID_ARGUMENT: the structure that has too many members
// or nests too deep (limits: text_guard.h).
absl::Status CheckModuleTypes(const std::vector<uint32_t>& module);

// REQUIRES: as above. INVALID_ARGUMENT: deeper than kControlDepthMax.
absl::Status CheckModuleNesting(const std::vector<uint32_t>& module);

// REQUIRES: as above. Empty, or why the optimiser, which replaces calls by functions and structures
// by variables, would take too long.
std::string FindTooMuchToOptimize(const std::vector<uint32_t>& module);

// REQUIRES: as above. INVALID_ARGUMENT: the specialisation constant that has no id of its own,
// because its default is another one, or computed from others.
absl::Status CheckSpecializationConstants(const std::vector<uint32_t>& module);

}  // namespace galley::worker
