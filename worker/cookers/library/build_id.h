// BuildIdOf: which build of a shared library this process runs with, for cooker identities: so that
// an upgraded library gives other keys though it cannot tell its version.
#pragma once

#include <string>

namespace galley::worker {

// The first 8 hex digits of the build id of the library that defines `symbol` (as the linker spells
// it); "static" when that is a part of this program.
std::string BuildIdOf(const char* symbol);

}  // namespace galley::worker
