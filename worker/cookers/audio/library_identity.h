// LibraryIdentity: which libraries this process runs with, so that an upgraded one gives other
// keys.
#pragma once

#include <string>

namespace galley::worker::audio {

// "libopus=1.3.1;libopusenc=0.2.1;...;soxr=0.1.3-cr32s;ebur128=1.2.6;glibc=2.36". Libraries that
// cannot tell their version at run time are named by their build id. glibc: its sin, exp and log
// decide the codecs' last bits.
std::string LibraryIdentity();

}  // namespace galley::worker::audio
