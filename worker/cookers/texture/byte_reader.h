// ByteReader: reads integers out of foreign bytes, in order, little-endian. Past the end it returns
// zeros and remembers this: check is_truncated() before using the integers.
// Threads: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace galley::worker::texture {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool is_truncated() const { return is_truncated_; }
  size_t offset() const { return offset_; }
  size_t bytes_left() const { return bytes_.size() - offset_; }

  uint8_t Get8() {
    if (offset_ < bytes_.size()) return static_cast<uint8_t>(bytes_[offset_++]);
    is_truncated_ = true;
    return 0;
  }
  uint16_t Get16() {
    const uint16_t low = Get8();
    return static_cast<uint16_t>(low | Get8() << 8);
  }
  uint32_t Get32() {
    const uint32_t low = Get16();
    return low | uint32_t{Get16()} << 16;
  }
  uint64_t Get64() {
    const uint64_t low = Get32();
    return low | uint64_t{Get32()} << 32;
  }
  void Skip(uint64_t count) {
    is_truncated_ |= count > bytes_left();
    offset_ += static_cast<size_t>(std::min<uint64_t>(count, bytes_left()));
  }

 private:
  std::string_view bytes_;
  size_t offset_ = 0;
  bool is_truncated_ = false;
};

}  // namespace galley::worker::texture
