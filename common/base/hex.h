// Lower-case hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace galley {

std::string HexEncode(std::string_view bytes);
// nullopt: `hex` is not an even number of characters of [0-9a-f]. Upper case is refused, so that
// bytes have one text.
std::optional<std::string> HexDecode(std::string_view hex);
// False when `hex` is not 2 * bytes.size() lower-case digits.
bool HexDecodeTo(std::string_view hex, std::span<uint8_t> bytes);

}  // namespace galley
