// LastWords: a process that ends for want of memory or threads says so in one sentence and ends
// with an exit code of its own, rather than with an abort, a core file and no word.
//
// An allocation or a thread that fails where nobody catches it ends a program (std::terminate);
// gRPC calls abort() by itself then. Where the address space is limited (ulimit -v) an abort is
// taken to be such a one, too; elsewhere it stays an abort: a bug, whose core file is wanted.
#pragma once

#include <string_view>

namespace galley {

// For the whole process. `program` outlives it.
void SetLastWords(std::string_view program, int exit_code);

}  // namespace galley
