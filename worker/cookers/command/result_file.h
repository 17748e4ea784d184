// The JSON file {result} that a program may write:
//
//   { "references": [{"path": "a.png", "kind": "hard"}],
//     "generated": [{"name": "_gen/a.level", "file": "made/a.level", "cooker": "data",
//                    "settings": {}}],
//     "tags": {"triangles": 12},
//     "warnings": ["..."],
//     "observations": [{"kind": "file", "path": "Game/x.txt"}] }
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "worker/cookers/command/workspace.h"
#include "worker/cookers/cooker.h"

namespace galley::worker {

inline constexpr size_t kResultBytesMax = size_t{16} << 20;

// Hands everything in `json` to the context, which itself determines the values of observations.
// Paths of observations have the form "Game/x" or "/Game/x". The file is read as strictly as a data
// source (data/json_source.h). `only_observations`: the program failed, and only its observations
// count. INVALID_ARGUMENT names the place in the file and what was expected there.
absl::Status ApplyResult(CookContext& context, const Workspace& workspace, std::string_view json,
                         bool only_observations);

}  // namespace galley::worker
