// Numbers of cooks: each cook of a project has a higher one than all before it, in whichever
// director it ran. The last one is in `<state>/cooks/last`; where that is gone, numbers do not fall
// all the same, because the director's term rises, too.
//
// Threads: none; under the project's lock, but for LastCookNumber.
#pragma once

#include <cstdint>
#include <string>

namespace galley::director {

// Under the state folder: the last number, and the logs of the last cooks (director/resident).
inline constexpr const char* kCooksFolder = "cooks";

// `term`: the director's; `last`: the last one that this process took. A number that cannot be
// written down is taken all the same.
uint64_t TakeCookNumber(const std::string& state_directory, uint32_t term, uint64_t last = 0);

// 0: none is known.
uint64_t LastCookNumber(const std::string& state_directory);

}  // namespace galley::director
