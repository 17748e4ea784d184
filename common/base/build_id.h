// BuildId: identifies this build of the program.
//
// Threads: any.
#pragma once

#include <string>

namespace galley {

// The program's GNU build id in hex, which the linker sets; without one, the size and time of the
// program's file.
std::string BuildId();

}  // namespace galley
