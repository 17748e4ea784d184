// BlobId: which bytes: their SHA-256 and their number. As text "<64 hex>/<size>", as in URLs.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/vfs/sha256.h"

namespace galley::vfs {

std::string ToHex(const Hash& hash);
// nullopt: not 64 lower-case hexadecimal digits.
std::optional<Hash> ParseHex(std::string_view hex);
// nullopt: not a decimal number, or one with a leading zero, or above 2^63 - 1.
std::optional<uint64_t> ParseNumber(std::string_view text);

struct BlobId {
  Hash hash{};
  uint64_t size = 0;

  static BlobId Of(std::string_view bytes) { return {Sha256::Of(bytes), bytes.size()}; }
  static std::optional<BlobId> Parse(std::string_view text);
  std::string ToText() const { return ToHex(hash) + "/" + std::to_string(size); }
  auto operator<=>(const BlobId&) const = default;
};

}  // namespace galley::vfs
