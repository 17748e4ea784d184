#include "common/base/hex.h"

#include <array>
#include <cstdint>

namespace galley {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

constexpr uint8_t kNoDigit = 0xff;
constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (uint8_t value = 0; value < 16; ++value) values[static_cast<uint8_t>(kDigits[value])] = value;
  return values;
}();

}  // namespace

std::string HexEncode(std::string_view bytes) {
  std::string hex(bytes.size() * 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    hex[2 * i] = kDigits[byte >> 4];
    hex[2 * i + 1] = kDigits[byte & 15];
  }
  return hex;
}

bool HexDecodeTo(std::string_view hex, std::span<uint8_t> bytes) {
  if (hex.size() != 2 * bytes.size()) return false;
  bool is_hex = true;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t high = kValues[static_cast<uint8_t>(hex[2 * i])];
    const uint8_t low = kValues[static_cast<uint8_t>(hex[2 * i + 1])];
    is_hex = is_hex && high != kNoDigit && low != kNoDigit;
    bytes[i] = static_cast<uint8_t>(high << 4 | (low & 15));
  }
  return is_hex;
}

std::optional<std::string> HexDecode(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  if (!HexDecodeTo(hex, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}))
    return std::nullopt;
  return bytes;
}

}  // namespace galley
