// LibraryIdentity: the codec libraries that this process runs with, so that an upgraded library
// gives other keys.
#pragma once

#include <string>

namespace galley::worker::texture {

// "libpng=1.6.39;libjpeg=2.1.5-0f3a9c21;stb=2.27/1.12;squish=5b..;astcenc=77..;zstd=1.5.4". A
// library that cannot tell its version at run time is named by the first 8 hex digits of its build
// id; "static" when it is part of this program.
std::string LibraryIdentity();

}  // namespace galley::worker::texture
