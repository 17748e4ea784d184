// MakeMipChain: an image -> the levels that are encoded, largest first.
//
// A level has half the width and height of the level before, rounded down, at least 1. A texel
// is the mean of the area that it covers: 2x2 texels, or three texels where a side is odd, weighted
// by the part of each that is covered. Means are taken in linear light, from the level before in
// floats, so that nothing is rounded twice.
//   color   means weighted by alpha: transparent texels lend no colour; where all are transparent,
//           a plain mean
//   normal  red, green, blue read as a vector (2v - 1), averaged and brought to length 1; alpha
//           averaged on its own
//   mask    each channel on its own
// Without halving, the first level has the source's values: 16 bits are rounded to 8 for kUnorm8,
// and values become linear for kHalf.
//
// Threads: none.
// Cost: about 8 bytes a texel beside source and result; time linear.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

enum class TexelType { kUnorm8, kHalf };

struct MipOptions {
  Usage usage = Usage::kColor;
  // The colour space of the source's integers and of kUnorm8 levels. kHalf levels are always
  // linear.
  ColorSpace color_space = ColorSpace::kSrgb;
  TexelType texel_type = TexelType::kUnorm8;
  bool mipmaps = true;    // false: a single level
  uint32_t max_size = 0;  // halve until no side is longer; 0: no limit
};

// REQUIRES: an HDR image only with usage color, linear, kHalf.
std::vector<Level> MakeMipChain(const Image& image, const MipOptions& options);

}  // namespace galley::worker::texture
