// LastWords: a process that runs out of memory or threads prints one sentence and ends with its own
// exit code, instead of an abort with a core file and no message.
//
// If nobody catches the exception of a failed allocation or thread start, std::terminate ends the
// program; gRPC calls abort() instead. If the address space is limited (ulimit -v), every abort
// counts as out of memory. Otherwise an abort stays an abort: a bug, whose core file is wanted.
#pragma once

#include <string_view>

namespace galley {

// Sets the last words of this process. `program` outlives the process.
void SetLastWords(std::string_view program, int exit_code);

}  // namespace galley
