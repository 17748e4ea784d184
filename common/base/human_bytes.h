// Sizes in bytes, as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

// "17 B", "1.5 GiB": for people.
std::string HumanBytes(uint64_t bytes);

// "512", "64KiB", "1.5MiB", "4GiB", "1TiB", and KB, MB, GB, TB by thousands. Else INVALID_ARGUMENT.
absl::StatusOr<uint64_t> ParseSize(std::string_view text);

}  // namespace galley
