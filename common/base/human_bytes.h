#pragma once

#include <cstdint>
#include <string>

namespace galley {

// "17 B", "1.5 GiB": for people.
std::string HumanBytes(uint64_t bytes);

}  // namespace galley
