// Little-endian integers and digests of fixed size, for segments and the index. A digest takes
// kDigestBytes: hash, then size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::store {

inline constexpr size_t kDigestBytes = Digest::kHashSize + 8;

inline void PutFixed32(std::string& bytes, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}
inline void PutFixed64(std::string& bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}
// REQUIRES: `bytes` has `size` bytes from `offset` on.
inline uint64_t GetFixed(std::string_view bytes, size_t offset, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[offset + i])} << (8 * i);
  return value;
}
inline uint32_t GetFixed32(std::string_view bytes, size_t offset) {
  return static_cast<uint32_t>(GetFixed(bytes, offset, 4));
}
inline uint64_t GetFixed64(std::string_view bytes, size_t offset) {
  return GetFixed(bytes, offset, 8);
}

inline void PutDigest(std::string& bytes, const Digest& digest) {
  bytes += digest.hash();
  PutFixed64(bytes, digest.size_bytes());
}
inline absl::StatusOr<Digest> GetDigest(std::string_view bytes, size_t offset) {
  return Digest::FromHash(bytes.substr(offset, Digest::kHashSize),
                          GetFixed64(bytes, offset + Digest::kHashSize));
}

}  // namespace galley::store
