#include "common/vfs/blob_id.h"

#include <algorithm>

namespace galley::vfs {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string ToHex(const Hash& hash) {
  std::string hex;
  hex.reserve(2 * hash.size());
  for (const uint8_t byte : hash) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Hash> ParseHex(std::string_view hex) {
  Hash hash;
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  for (size_t i = 0; i < hash.size(); ++i) {
    const size_t high = kDigits.find(hex[2 * i]), low = kDigits.find(hex[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    hash[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return hash;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  constexpr size_t kDigitsMax = 19;  // of 2^63 - 1
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || text.size() > kDigitsMax || !is_plain) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  uint64_t number = 0;
  for (const char digit : text) number = number * 10 + static_cast<uint64_t>(digit - '0');
  if (number > uint64_t{INT64_MAX}) return std::nullopt;
  return number;
}

std::optional<BlobId> BlobId::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<Hash> hash = ParseHex(text.substr(0, slash));
  const std::optional<uint64_t> size = ParseNumber(text.substr(slash + 1));
  if (!hash || !size) return std::nullopt;
  return BlobId{*hash, *size};
}

}  // namespace galley::vfs
