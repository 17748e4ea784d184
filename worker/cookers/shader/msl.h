// MSL by spirv-cross: Vulkan's bindings made Metal's indices. docs/cookers/shader.md has the rules.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/cookers/shader/cross_module.h"
#include "worker/cookers/shader/reflection.h"

namespace galley::worker {

struct MslOptions {
  unsigned version = 20100;  // 2.1
  // Negates the y of positions.
  bool fix_clip_space = true;
};

// `module`: of the backend SPVC_BACKEND_MSL, with names; used up by this. `reflection`: of the same
// shader; gets to know where everything landed. INVALID_ARGUMENT: what MSL of that version cannot
// say.
absl::StatusOr<std::string> WriteMsl(CrossModule& module, const MslOptions& options,
                                     Reflection& reflection);

}  // namespace galley::worker
