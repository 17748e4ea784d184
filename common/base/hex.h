// Lower-case hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace galley {

std::string HexEncode(std::string_view bytes);
// nullopt unless `hex` is an even number of characters of [0-9a-f]; upper case is refused, so that
// a text has one form.
std::optional<std::string> HexDecode(std::string_view hex);
// False when `hex` is not 2 * bytes.size() lower-case digits.
bool HexDecodeTo(std::string_view hex, std::span<uint8_t> bytes);

}  // namespace galley
