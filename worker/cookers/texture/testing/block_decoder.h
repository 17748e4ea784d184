// BlockDecoder: an independent reader of BC1, BC3, BC4, BC5 and KTX2, to check the cooker's output.
// astcenc decodes ASTC.
// Source: Khronos Data Format Specification 1.3, chapters 18 (S3TC) and 19 (RGTC).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker/cookers/texture/testing/sample_images.h"

namespace galley::worker::texture {

// Ktx2File: the contents of a KTX2 file. ReadKtx2 CHECKs that every range lies within the file and
// is aligned.
struct Ktx2File {
  uint32_t vk_format = 0;
  uint32_t type_size = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t layers_count = 0;
  uint32_t faces_count = 0;
  uint32_t levels_count = 0;
  uint32_t scheme = 0;
  std::string descriptor;
  std::map<std::string, std::string> key_values;  // values without the final NUL
  struct Level {
    uint64_t offset = 0;
    uint64_t uncompressed_length = 0;
    std::string bytes;  // inflated
  };
  std::vector<Level> levels;  // largest first
};
Ktx2File ReadKtx2(std::string_view file);

// `vk_format`: BC1 to BC5 or RGBA8. BC4 gives (r, 0, 0, 255), BC5 (r, g, 0, 255).
Bitmap DecodeBlocks(std::string_view bytes, uint32_t width, uint32_t height, uint32_t vk_format);
Bitmap DecodeAstc(std::string_view bytes, uint32_t width, uint32_t height, uint32_t block_width,
                  uint32_t block_height);

// Peak signal to noise over the channels of `channels` ("rgb", "ra"), in dB; 99 for equal images.
double Psnr(const Bitmap& a, const Bitmap& b, std::string_view channels);

}  // namespace galley::worker::texture
