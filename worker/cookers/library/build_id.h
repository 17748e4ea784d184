// BuildIdOf: the build of a shared library that this process runs with. Cooker identities include
// it, so that an upgraded library gives other keys even if it cannot tell its version.
#pragma once

#include <string>

namespace galley::worker {

// The first 8 hex digits of the build id of the library that defines `symbol` (as the linker spells
// it); "static" when the library is a part of this program.
std::string BuildIdOf(const char* symbol);

}  // namespace galley::worker
