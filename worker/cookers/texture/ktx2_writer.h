// WriteKtx2: encoded levels -> a KTX 2.0 file.
//
//   identifier, header          80 bytes
//   level index                 24 bytes for each level: offset, length, uncompressed length;
//                               the largest level first
//   data format descriptor      one basic block
//   key/value data              KTXorientation "rd", KTXswizzle when given, KTXwriter "galley"
//   levels                      smallest first; each at a multiple of lcm(block bytes, 4), packed
//                               when supercompressed; a level's images without gaps: layer by
//                               layer, in a layer face by face
//
// With zstd (scheme 2) each level is a single frame, and the descriptor's bytesPlane fields are 0
// as the specification demands.
// Source: https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html,
// https://registry.khronos.org/DataFormat/specs/1.3/dataformat.1.3.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/texture_format.h"

namespace galley::worker::texture {

struct Ktx2Texture {
  TextureFormat format;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t layers_count = 0;  // the length of an array; 0: no array
  uint32_t faces_count = 1;   // 6: a cube map, or an array of them
  // Encoded, at least one, the largest first; each with all images.
  std::vector<std::string> levels;
  std::string_view swizzle;  // KTXswizzle, four of rgba01; empty: none
  int zstd_level = 0;        // 0: not supercompressed
};

// INTERNAL: zstd failed.
absl::StatusOr<std::string> WriteKtx2(const Ktx2Texture& texture);

}  // namespace galley::worker::texture
