// Depfile: a dependency file in Make's syntax, as compilers write it: the files that a program says
// it read.
//
//   out/x.mesh: Game/x.obj Game/y.obj
//     Game/my\ materials.mtl
//   Game/my\ materials.mtl:
//
// There may be any number of rules. A '\' at a line's end continues the line. In names "\ " is a
// blank, "\#" a '#' and "$$" a '$'; 2N backslashes before a blank or '#' are N backslashes, and
// other backslashes stay. A ':' ends the targets when a blank or the line's end follows. A '#'
// where a name would start begins a comment.
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
