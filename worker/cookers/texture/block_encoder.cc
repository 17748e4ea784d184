#include <squish.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/encoder.h"
#include "worker/cookers/texture/stb.h"
#include "worker/cookers/texture/visible_colors.h"

namespace galley::worker::texture {
namespace {

void LoadBlock(const Level& level, uint32_t block_x, uint32_t block_y, BlockTexels& block) {
  for (uint32_t y = 0; y < 4; ++y) {
    const uint32_t source_y = std::min(block_y * 4 + y, level.height - 1);
    for (uint32_t x = 0; x < 4; ++x) {
      const uint32_t source_x = std::min(block_x * 4 + x, level.width - 1);
      const size_t source = (size_t{source_y} * level.width + source_x) * 4;
      std::memcpy(block.data() + (y * 4 + x) * 4, level.texels.data() + source, 4);
    }
  }
}

void SetOpaque(BlockTexels& block) {
  for (size_t i = 3; i < block.size(); i += 4) block[i] = 255;
}

void EncodeFast(const BlockTexels& block, FormatKind kind, int mode, uint8_t* out) {
  std::array<uint8_t, 32> channels{};
  switch (kind) {
    case FormatKind::kBc4:
      for (size_t i = 0; i < 16; ++i) channels[i] = block[i * 4];
      return stb_compress_bc4_block(out, channels.data());
    case FormatKind::kBc5:
      for (size_t i = 0; i < 16; ++i) {
        channels[i * 2] = block[i * 4];
        channels[i * 2 + 1] = block[i * 4 + 1];
      }
      return stb_compress_bc5_block(out, channels.data());
    default:
      return stb_compress_dxt_block(out, block.data(), kind == FormatKind::kBc3 ? 1 : 0, mode);
  }
}

int SquishFlags(FormatKind kind, bool weighs_alpha) {
  switch (kind) {
    case FormatKind::kBc4:
      return squish::kBc4;
    case FormatKind::kBc5:
      return squish::kBc5;
    case FormatKind::kBc3:
      return squish::kDxt5 | squish::kColourClusterFit |
             (weighs_alpha ? squish::kWeightColourByAlpha : 0);
    default:
      return squish::kDxt1 | squish::kColourClusterFit;
  }
}

}  // namespace

std::string EncodeBlocks(const Level& level, const EncodeOptions& options) {
  const FormatKind kind = options.format.kind;
  const bool weighs_alpha = options.usage == Usage::kColor;
  const TextureFormat format{.kind = kind};
  GALLEY_CHECK(format.block().width == 4 && kind != FormatKind::kAstc);
  std::string out(format.LevelBytes(level.width, level.height), '\0');
  uint8_t* next = reinterpret_cast<uint8_t*>(out.data());
  alignas(4) BlockTexels block;  // stb_dxt reads it as words
  for (uint32_t y = 0; y < (level.height + 3) / 4; ++y) {
    for (uint32_t x = 0; x < (level.width + 3) / 4; ++x, next += format.block_bytes()) {
      LoadBlock(level, x, y, block);
      if (kind == FormatKind::kBc1) SetOpaque(block);
      if (options.quality == Quality::kThorough) {
        squish::Compress(block.data(), next, SquishFlags(kind, weighs_alpha));
        continue;
      }
      const int mode = options.quality == Quality::kFast ? STB_DXT_NORMAL : STB_DXT_HIGHQUAL;
      EncodeFast(block, kind, mode, next);
      if (kind == FormatKind::kBc3 && weighs_alpha) FitVisibleColors(block, mode, next + 8);
    }
  }
  return out;
}

}  // namespace galley::worker::texture
