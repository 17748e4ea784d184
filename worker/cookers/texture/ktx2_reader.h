// ParseKtx2: reads the files that WriteKtx2 writes, and other files of these formats. The bytes are
// foreign: every range is checked, and nothing is inflated before its size is known to be right.
//
// Errors: INVALID_ARGUMENT: no KTX2 file, a format or scheme that WriteKtx2 does not write, ranges
// outside of the file, sizes that contradict each other, or beyond the limits of decode.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/texture_format.h"

namespace galley::worker::texture {

struct Ktx2Contents {
  TextureFormat format;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t layers_count = 0;  // 0: the texture is no array
  uint32_t faces_count = 1;   // 1 or 6
  bool is_zstd = false;
  std::string_view swizzle;              // KTXswizzle; empty: none
  std::vector<std::string_view> levels;  // as stored, the largest first

  uint32_t images_count() const { return std::max(layers_count, 1u) * faces_count; }
  uint32_t level_width(uint32_t level) const { return std::max(width >> level, 1u); }
  uint32_t level_height(uint32_t level) const { return std::max(height >> level, 1u); }
};

// The views point into `file`.
absl::StatusOr<Ktx2Contents> ParseKtx2(std::string_view file);
// An image of a level, inflated. `image` counts layer by layer, within a layer face by face.
// REQUIRES: level < levels.size(), image < images_count().
absl::StatusOr<std::string> ReadKtx2Image(const Ktx2Contents& contents, uint32_t level,
                                          uint32_t image);

}  // namespace galley::worker::texture
