// LibraryIdentity: the libraries that this process runs with, so that an upgraded library gives
// other keys.
#pragma once

#include <string>

namespace galley::worker::audio {

// "libopus=1.3.1-0a1b2c3d;...;opusfile=4e5f6a7b;...;soxr=0.1.3-cr32s-8c9d0e1f;...": version and
// build id of each shared library that decides bytes, since distributions patch a version and
// compile it anew; only the build id where a library cannot tell its version at run time. The id
// for glibc is libm's, whose sin, exp and log decide the codecs' last bits.
std::string LibraryIdentity();

}  // namespace galley::worker::audio
