// Sha256: SHA-256 in pieces, by the processor's own instructions where it has them (SHA extensions
// of x86-64, Cryptographic Extensions of ARMv8).
//
// Source: FIPS 180-4, 6.2. Threads: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace galley::vfs {

using Hash = std::array<uint8_t, 32>;

class Sha256 {
 public:
  void Add(const void* bytes, size_t size);
  // The hash of all that was added. Nothing is added afterwards.
  Hash Finish();

  static Hash Of(std::string_view bytes);

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};  // bytes that do not make a block yet
  uint64_t size_ = 0;
};

}  // namespace galley::vfs
