// Decoding: helps the tests of decoders to write files byte by byte, and to decode them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "worker/cookers/texture/decode.h"
#include "worker/cookers/texture/testing/sample_images.h"

namespace galley::worker::texture {

// A file in the making, little-endian.
class FileBytes {
 public:
  FileBytes& Put8(std::initializer_list<uint32_t> values) { return Put(values, 1); }
  FileBytes& Put16(std::initializer_list<uint32_t> values) { return Put(values, 2); }
  FileBytes& Put32(std::initializer_list<uint32_t> values) { return Put(values, 4); }
  FileBytes& Text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  FileBytes& Put(std::initializer_list<uint32_t> values, int size) {
    for (const uint32_t value : values) {
      for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
    return *this;
  }
  std::string bytes_;
};

// The error in words, with its code unless it is INVALID_ARGUMENT; "decoded": there is no error.
std::string ErrorOf(std::string_view extension, std::string_view bytes,
                    const DecodeOptions& options = {});
// The texels of an 8-bit image; CHECKs that the image has 8 bits.
Bitmap DecodedBitmap(std::string_view extension, std::string_view bytes);

}  // namespace galley::worker::texture
