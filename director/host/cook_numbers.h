// CookNumbers: numbers the cooks of a project. A cook has a higher number than all earlier cooks,
// also of earlier directors. The last number is in `<state>/cooks/last`; if that file is lost,
// numbers begin again at the director's term.
//
// Threads: none; under the project's lock, except for LastCookNumber.
#pragma once

#include <cstdint>
#include <string>

namespace galley::director {

// Under the state folder: the last number, and the logs of the last cooks (director/resident).
inline constexpr const char* kCooksFolder = "cooks";

// Returns a new number, even if it cannot be written down. `term`: the director's term; `last`: the
// last number that this process took.
uint64_t TakeCookNumber(const std::string& state_directory, uint32_t term, uint64_t last = 0);

// Returns the last number; 0: unknown.
uint64_t LastCookNumber(const std::string& state_directory);

}  // namespace galley::director
