// CookNumbers: each cook of a project has a higher number than all cooks before it, in whichever
// director it ran. The last number is in `<state>/cooks/last`; if that file is gone, numbers still
// rise, because the director's term rises as well.
//
// Threads: none; under the project's lock, except for LastCookNumber.
#pragma once

#include <cstdint>
#include <string>

namespace galley::director {

// Under the state folder: the last number, and the logs of the last cooks (director/resident).
inline constexpr const char* kCooksFolder = "cooks";

// `term`: the director's; `last`: the last number that this process took. A number is taken even if
// it cannot be written down.
uint64_t TakeCookNumber(const std::string& state_directory, uint32_t term, uint64_t last = 0);

// 0: no number is known.
uint64_t LastCookNumber(const std::string& state_directory);

}  // namespace galley::director
