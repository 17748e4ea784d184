// MSL by spirv-cross: turns Vulkan's bindings into Metal's indices. docs/cookers/shader.md has the
// rules.
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

// `module`: made for SPVC_BACKEND_MSL, with names; consumed. `reflection`: of the same shader; gets
// the locations in the text. INVALID_ARGUMENT: something that MSL of this version cannot express.
absl::StatusOr<std::string> WriteMsl(CrossModule& module, const MslOptions& options,
                                     Reflection& reflection);

}  // namespace galley::worker
