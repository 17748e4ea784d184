#include "worker/cookers/texture/visible_colors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "worker/cookers/texture/stb.h"

namespace galley::worker::texture {
namespace {

constexpr int kRoundsFast = 1;
constexpr int kRoundsThorough = 4;
// By index of a texel: its share of the first end colour, in thirds.
constexpr std::array<int32_t, 4> kShares = {3, 0, 2, 1};

// An error fits into 32 bits: it is at most 16 texels * 3 * 255 * 255 * 256.
using Color = std::array<int32_t, 3>;
using ColorSums = std::array<int64_t, 3>;
using Palette = std::array<Color, 4>;

struct ColorBlock {
  std::array<uint16_t, 2> ends{};  // 5:6:5
  std::array<uint8_t, 16> indices{};
};

// The texels of a block, by channel, so that the compiler can handle several at once.
struct Planes {
  explicit Planes(const BlockTexels& block) {
    for (size_t texel = 0; texel < 16; ++texel) {
      for (size_t c = 0; c < 3; ++c) channels[c][texel] = block[texel * 4 + c];
      weights[texel] = block[texel * 4 + 3] + 1;
    }
  }
  std::array<std::array<int32_t, 16>, 3> channels;
  std::array<int32_t, 16> weights;
};

Color Expand(uint16_t end) {
  const int32_t red = end >> 11;
  const int32_t green = (end >> 5) & 63;
  const int32_t blue = end & 31;
  return {red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2};
}

Palette PaletteOf(const std::array<uint16_t, 2>& ends) {
  const Color first = Expand(ends[0]);
  const Color second = Expand(ends[1]);
  Palette palette;
  for (size_t i = 0; i < palette.size(); ++i) {
    for (size_t c = 0; c < 3; ++c)
      palette[i][c] = (kShares[i] * first[c] + (3 - kShares[i]) * second[c]) / 3;
  }
  return palette;
}

ColorBlock Unpack(const uint8_t* bytes) {
  ColorBlock color;
  for (size_t i = 0; i < 2; ++i)
    color.ends[i] = static_cast<uint16_t>(bytes[i * 2] | bytes[i * 2 + 1] << 8);
  for (size_t i = 0; i < 16; ++i)
    color.indices[i] = static_cast<uint8_t>((bytes[4 + i / 4] >> (2 * (i % 4))) & 3);
  return color;
}

// The greater end comes first, as in blocks of other encoders: otherwise a decoder might take the
// block for BC1's mode of three colours.
void Pack(ColorBlock color, uint8_t* bytes) {
  if (color.ends[0] < color.ends[1]) {
    std::swap(color.ends[0], color.ends[1]);
    for (uint8_t& index : color.indices) index ^= 1;
  }
  std::memset(bytes, 0, 8);
  for (size_t i = 0; i < 2; ++i) {
    bytes[i * 2] = static_cast<uint8_t>(color.ends[i]);
    bytes[i * 2 + 1] = static_cast<uint8_t>(color.ends[i] >> 8);
  }
  for (size_t i = 0; i < 16; ++i)
    bytes[4 + i / 4] = static_cast<uint8_t>(bytes[4 + i / 4] | color.indices[i] << (2 * (i % 4)));
}

// Gives each texel the nearest palette colour; returns the weighted error.
int32_t ChooseIndices(const Planes& texels, ColorBlock& color) {
  const Palette palette = PaletteOf(color.ends);
  std::array<int32_t, 16> least;
  least.fill(INT32_MAX);
  std::array<int32_t, 16> indices{};
  for (int32_t i = 0; i < 4; ++i) {
    const auto& [red, green, blue] = palette[static_cast<size_t>(i)];
    for (size_t texel = 0; texel < 16; ++texel) {
      const int32_t r = texels.channels[0][texel] - red;
      const int32_t g = texels.channels[1][texel] - green;
      const int32_t b = texels.channels[2][texel] - blue;
      const int32_t distance = r * r + g * g + b * b;
      indices[texel] = distance < least[texel] ? i : indices[texel];
      least[texel] = std::min(least[texel], distance);
    }
  }
  int32_t error = 0;
  for (size_t texel = 0; texel < 16; ++texel) {
    color.indices[texel] = static_cast<uint8_t>(indices[texel]);
    error += least[texel] * texels.weights[texel];
  }
  return error;
}

uint16_t Quantize(const std::array<double, 3>& end) {
  const auto level = [](double value, double levels) {
    return static_cast<unsigned>(std::clamp(value * levels / 255 + 0.5, 0.0, levels));
  };
  return static_cast<uint16_t>(level(end[0], 31) << 11 | level(end[1], 63) << 5 |
                               level(end[2], 31));
}

// Finds the ends that fit the indices best. False: all texels have the same index.
bool SolveEnds(const Planes& texels, ColorBlock& color) {
  int64_t aa = 0;
  int64_t ab = 0;
  int64_t bb = 0;
  ColorSums a_sum{};
  ColorSums b_sum{};
  for (size_t texel = 0; texel < 16; ++texel) {
    const int64_t weight = texels.weights[texel];
    const int64_t a = kShares[color.indices[texel]];
    const int64_t b = 3 - a;
    aa += weight * a * a;
    ab += weight * a * b;
    bb += weight * b * b;
    for (size_t c = 0; c < 3; ++c) {
      a_sum[c] += weight * a * texels.channels[c][texel];
      b_sum[c] += weight * b * texels.channels[c][texel];
    }
  }
  const int64_t determinant = aa * bb - ab * ab;
  if (determinant == 0) return false;
  std::array<double, 3> first;
  std::array<double, 3> second;
  for (size_t c = 0; c < 3; ++c) {
    first[c] =
        3.0 * static_cast<double>(a_sum[c] * bb - b_sum[c] * ab) / static_cast<double>(determinant);
    second[c] =
        3.0 * static_cast<double>(b_sum[c] * aa - a_sum[c] * ab) / static_cast<double>(determinant);
  }
  color.ends = {Quantize(first), Quantize(second)};
  return true;
}

// Gives invisible texels the mean colour of the others, and makes each texel opaque, which stb_dxt
// wants. False: all texels are invisible, or none is.
bool MoveInvisible(BlockTexels& block) {
  ColorSums sum{};
  int64_t weights = 0;
  bool is_any_invisible = false;
  for (size_t i = 0; i < block.size(); i += 4) {
    for (size_t c = 0; c < 3; ++c) sum[c] += int64_t{block[i + c]} * block[i + 3];
    weights += block[i + 3];
    is_any_invisible |= block[i + 3] == 0;
  }
  if (!is_any_invisible || weights == 0) return false;
  for (size_t i = 0; i < block.size(); i += 4) {
    for (size_t c = 0; c < 3 && block[i + 3] == 0; ++c)
      block[i + c] = static_cast<uint8_t>((sum[c] + weights / 2) / weights);
    block[i + 3] = 255;
  }
  return true;
}

bool HasOneAlpha(const BlockTexels& block) {
  for (size_t i = 7; i < block.size(); i += 4) {
    if (block[i] != block[3]) return false;
  }
  return true;
}

}  // namespace

void FitVisibleColors(const BlockTexels& block, int mode, uint8_t* color) {
  if (HasOneAlpha(block)) return;
  const Planes texels(block);
  ColorBlock best = Unpack(color);
  int32_t least = ChooseIndices(texels, best);
  const auto consider = [&](const ColorBlock& other, int32_t error) {
    if (error >= least) return false;
    best = other;
    least = error;
    return true;
  };
  alignas(4) BlockTexels moved = block;  // stb_dxt reads it as words
  if (MoveInvisible(moved)) {
    std::array<uint8_t, 8> bytes;
    stb_compress_dxt_block(bytes.data(), moved.data(), 0, mode);
    ColorBlock other = Unpack(bytes.data());
    consider(other, ChooseIndices(texels, other));
  }
  const int rounds = mode == STB_DXT_NORMAL ? kRoundsFast : kRoundsThorough;
  for (int i = 0; i < rounds; ++i) {
    ColorBlock refined = best;
    if (!SolveEnds(texels, refined)) break;
    const int32_t error = ChooseIndices(texels, refined);
    if (!consider(refined, error)) break;
  }
  Pack(best, color);
}

}  // namespace galley::worker::texture
