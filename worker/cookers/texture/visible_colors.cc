#include "worker/cookers/texture/visible_colors.h"

#include <algorithm>
#include <cstring>

#include "worker/cookers/texture/stb.h"

namespace galley::worker::texture {
namespace {

constexpr int kRoundsFast = 1;
constexpr int kRoundsThorough = 4;
// Shares of the first end colour, of three: by the index of a texel.
constexpr std::array<int64_t, 4> kShares = {3, 0, 2, 1};

using Color = std::array<int64_t, 3>;
using Palette = std::array<Color, 4>;

struct ColorBlock {
  std::array<uint16_t, 2> ends{};  // 5:6:5
  std::array<uint8_t, 16> indices{};
};

int64_t Weight(const BlockTexels& block, size_t texel) { return block[texel * 4 + 3] + 1; }

Color Expand(uint16_t end) {
  const int64_t red = end >> 11;
  const int64_t green = (end >> 5) & 63;
  const int64_t blue = end & 31;
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

// The greater end comes first, as in blocks of other encoders: then no decoder takes it for BC1's
// mode of three colours.
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

// Gives each texel the nearest colour of the ends; returns the weighted error.
int64_t ChooseIndices(const BlockTexels& block, ColorBlock& color) {
  const Palette palette = PaletteOf(color.ends);
  int64_t error = 0;
  for (size_t texel = 0; texel < 16; ++texel) {
    int64_t best = INT64_MAX;
    for (size_t i = 0; i < palette.size(); ++i) {
      int64_t distance = 0;
      for (size_t c = 0; c < 3; ++c) {
        const int64_t difference = block[texel * 4 + c] - palette[i][c];
        distance += difference * difference;
      }
      if (distance < best) {
        best = distance;
        color.indices[texel] = static_cast<uint8_t>(i);
      }
    }
    error += best * Weight(block, texel);
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

// The ends that fit the indices best; false: all texels have one index.
bool SolveEnds(const BlockTexels& block, ColorBlock& color) {
  int64_t aa = 0;
  int64_t ab = 0;
  int64_t bb = 0;
  Color a_sum{};
  Color b_sum{};
  for (size_t texel = 0; texel < 16; ++texel) {
    const int64_t weight = Weight(block, texel);
    const int64_t a = kShares[color.indices[texel]];
    const int64_t b = 3 - a;
    aa += weight * a * a;
    ab += weight * a * b;
    bb += weight * b * b;
    for (size_t c = 0; c < 3; ++c) {
      a_sum[c] += weight * a * block[texel * 4 + c];
      b_sum[c] += weight * b * block[texel * 4 + c];
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

// The colours of texels that nobody sees become the mean of the others.
BlockTexels WithoutInvisible(const BlockTexels& block) {
  Color sum{};
  int64_t weights = 0;
  for (size_t i = 0; i < block.size(); i += 4) {
    for (size_t c = 0; c < 3; ++c) sum[c] += int64_t{block[i + c]} * block[i + 3];
    weights += block[i + 3];
  }
  BlockTexels moved = block;
  for (size_t i = 0; i < block.size() && weights > 0; i += 4) {
    if (block[i + 3] != 0) continue;
    for (size_t c = 0; c < 3; ++c)
      moved[i + c] = static_cast<uint8_t>((sum[c] + weights / 2) / weights);
  }
  return moved;
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
  ColorBlock best = Unpack(color);
  int64_t least = ChooseIndices(block, best);
  const auto consider = [&](const ColorBlock& other, int64_t error) {
    if (error >= least) return false;
    best = other;
    least = error;
    return true;
  };
  std::array<uint8_t, 16> moved;
  stb_compress_dxt_block(moved.data(), WithoutInvisible(block).data(), 1, mode);
  ColorBlock other = Unpack(moved.data() + 8);
  consider(other, ChooseIndices(block, other));
  const int rounds = mode == STB_DXT_NORMAL ? kRoundsFast : kRoundsThorough;
  for (int i = 0; i < rounds; ++i) {
    ColorBlock refined = best;
    if (!SolveEnds(block, refined)) break;
    const int64_t error = ChooseIndices(block, refined);
    if (!consider(refined, error)) break;
  }
  Pack(best, color);
}

}  // namespace galley::worker::texture
