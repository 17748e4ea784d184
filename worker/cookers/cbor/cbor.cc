#include "worker/cookers/cbor/cbor.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace galley::worker {
namespace {

// Major types, RFC 8949, 3.1, in the high three bits.
constexpr uint8_t kUnsigned = 0x00;
constexpr uint8_t kNegative = 0x20;
constexpr uint8_t kText = 0x60;
constexpr uint8_t kArray = 0x80;
constexpr uint8_t kMap = 0xA0;
constexpr uint8_t kFalse = 0xF4;
constexpr uint8_t kTrue = 0xF5;
constexpr uint8_t kNull = 0xF6;
constexpr uint8_t kHalf = 0xF9;
constexpr uint8_t kSingle = 0xFA;
constexpr uint8_t kDouble = 0xFB;

void PutBigEndian(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>((value >> shift) & 0xFF));
}

void PutHead(std::string& out, uint8_t major, uint64_t argument) {
  if (argument < 24) {
    out.push_back(static_cast<char>(major | argument));
    return;
  }
  const int power = argument <= 0xFF ? 0 : argument <= 0xFFFF ? 1 : argument <= 0xFFFFFFFF ? 2 : 3;
  out.push_back(static_cast<char>(major | (24 + power)));
  PutBigEndian(out, argument, 1 << power);
}

void PutText(std::string& out, std::string_view text) {
  PutHead(out, kText, text.size());
  out.append(text);
}

// The half-precision number that equals `value`, if there is one: RFC 8949, appendix D, inverted.
std::optional<uint16_t> ToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude == 0) return sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const uint32_t mantissa = magnitude & 0x7FFFFF;
  if (exponent >= -14 && exponent <= 15) {
    if ((mantissa & 0x1FFF) != 0) return std::nullopt;
    return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | static_cast<int>(mantissa >> 13));
  }
  if (exponent < -24 || exponent > 15) return std::nullopt;
  // A subnormal half: value = m * 2^-24.
  const uint32_t full = mantissa | 0x800000;
  const int shift = -exponent - 1;  // 14..23
  if ((full & ((1u << shift) - 1)) != 0) return std::nullopt;
  return static_cast<uint16_t>(sign | (full >> shift));
}

void PutFloat(std::string& out, double value) {
  const bool fits_float = value >= -3.4028234663852886e38 && value <= 3.4028234663852886e38 &&
                          static_cast<double>(static_cast<float>(value)) == value;
  if (!fits_float) {
    out.push_back(static_cast<char>(kDouble));
    PutBigEndian(out, std::bit_cast<uint64_t>(value), 8);
    return;
  }
  const auto single = static_cast<float>(value);
  if (const std::optional<uint16_t> half = ToHalf(single)) {
    out.push_back(static_cast<char>(kHalf));
    PutBigEndian(out, *half, 2);
    return;
  }
  out.push_back(static_cast<char>(kSingle));
  PutBigEndian(out, std::bit_cast<uint32_t>(single), 4);
}

void Put(std::string& out, const nlohmann::json& value);

void PutMap(std::string& out, const nlohmann::json& object) {
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const auto& item : object.items()) keys.push_back(item.key());
  // A longer text has the greater head: comparing lengths, then bytes, compares the encodings.
  std::ranges::sort(keys, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  PutHead(out, kMap, keys.size());
  for (const std::string_view key : keys) {
    PutText(out, key);
    Put(out, object.find(key).value());
  }
}

void Put(std::string& out, const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object:
      return PutMap(out, value);
    case nlohmann::json::value_t::array:
      PutHead(out, kArray, value.size());
      for (const nlohmann::json& element : value) Put(out, element);
      return;
    case nlohmann::json::value_t::string:
      return PutText(out, value.get_ref<const std::string&>());
    case nlohmann::json::value_t::boolean:
      out.push_back(static_cast<char>(value.get<bool>() ? kTrue : kFalse));
      return;
    case nlohmann::json::value_t::number_unsigned:
      return PutHead(out, kUnsigned, value.get<uint64_t>());
    case nlohmann::json::value_t::number_integer: {
      const int64_t number = value.get<int64_t>();
      // -1 - n is ~n: no overflow at the least integer.
      return number >= 0 ? PutHead(out, kUnsigned, static_cast<uint64_t>(number))
                         : PutHead(out, kNegative, ~static_cast<uint64_t>(number));
    }
    case nlohmann::json::value_t::number_float:
      return PutFloat(out, value.get<double>());
    case nlohmann::json::value_t::null:
    case nlohmann::json::value_t::binary:
    case nlohmann::json::value_t::discarded:
      out.push_back(static_cast<char>(kNull));
      return;
  }
}

}  // namespace

std::string EncodeCbor(const nlohmann::json& value) {
  std::string out;
  Put(out, value);
  return out;
}

}  // namespace galley::worker
