// LibraryIdentity: which codec libraries this process runs with, so that an upgraded library gives
// other keys.
#pragma once

#include <string>

namespace galley::worker::texture {

// "libpng=1.6.39;libjpeg=2.1.5-0f3a9c21;stb=2.27/1.12;squish=5b..;astcenc=77..;zstd=1.5.4".
// Libraries that cannot tell their version at run time are named by the first 8 hex digits of their
// build id; "static" when they are part of this program.
std::string LibraryIdentity();

}  // namespace galley::worker::texture
