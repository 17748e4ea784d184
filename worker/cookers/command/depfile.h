// Dependency files in Make's syntax, as compilers write them: what a program says that it read.
//
//   out/x.mesh: Game/x.obj Game/y.obj
//     Game/my\ materials.mtl
//   Game/my\ materials.mtl:
//
// Any number of rules; a line ends in '\' to go on; "\ " is a blank and "\#" a '#' in a name (2N
// backslashes before them are N), "$$" a '$'; other backslashes stay. A ':' ends the targets when a
// blank or the line's end follows. '#' at a name's start begins a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker {

inline constexpr size_t kDepfileBytesMax = size_t{16} << 20;
inline constexpr size_t kPrerequisitesMax = 100'000;

// The prerequisites of all rules, each once, in order. INVALID_ARGUMENT, "line 3: ...": a line
// without ':' or without a target, control characters, a limit.
absl::StatusOr<std::vector<std::string>> ParseDepfile(std::string_view text);

}  // namespace galley::worker
