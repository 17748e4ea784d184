// BuildId: what names the bytes of this program.
//
// Threads: any.
#pragma once

#include <string>

namespace galley {

// The build id that the linker put into the program (its GNU build id, in hex); where there is
// none, the size and time of its file.
std::string BuildId();

}  // namespace galley
