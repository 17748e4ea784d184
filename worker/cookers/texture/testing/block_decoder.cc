#include "worker/cookers/texture/testing/block_decoder.h"

#include <astcenc.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/status_macros.h"

namespace galley::worker::texture {
namespace {

uint64_t ReadInteger(std::string_view bytes, size_t offset, size_t size) {
  GALLEY_CHECK(offset + size <= bytes.size());
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[offset + i])} << (8 * i);
  return value;
}
uint32_t Read32(std::string_view bytes, size_t offset) {
  return static_cast<uint32_t>(ReadInteger(bytes, offset, 4));
}

std::string_view Part(std::string_view bytes, uint64_t offset, uint64_t size) {
  GALLEY_CHECK(offset <= bytes.size() && size <= bytes.size() - offset);
  return bytes.substr(offset, size);
}

std::map<std::string, std::string> ReadKeyValues(std::string_view data) {
  std::map<std::string, std::string> found;
  std::string last;
  while (!data.empty()) {
    const uint32_t size = Read32(data, 0);
    const std::string_view pair = Part(data, 4, size);
    const size_t end = pair.find('\0');
    GALLEY_CHECK(end != std::string_view::npos && pair.back() == '\0');
    const std::string key(pair.substr(0, end));
    GALLEY_CHECK(key > last);
    last = key;
    found[key] = pair.substr(end + 1, pair.size() - end - 2);
    data.remove_prefix(4 + (size + 3) / 4 * 4);
  }
  return found;
}

using Texels = std::array<Color, 16>;

Color Expand565(uint32_t value) {
  const uint32_t r = value >> 11;
  const uint32_t g = value >> 5 & 63;
  const uint32_t b = value & 31;
  return {static_cast<uint8_t>(r << 3 | r >> 2), static_cast<uint8_t>(g << 2 | g >> 4),
          static_cast<uint8_t>(b << 3 | b >> 2), 255};
}

Color Mix(const Color& a, const Color& b, int a_share, int b_share) {
  const int whole = a_share + b_share;
  const auto mix = [&](uint8_t x, uint8_t y) {
    return static_cast<uint8_t>((x * a_share + y * b_share + whole / 2) / whole);
  };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue), 255};
}

void DecodeColor(std::string_view block, bool is_bc1, Texels& texels) {
  const uint32_t first = static_cast<uint32_t>(ReadInteger(block, 0, 2));
  const uint32_t second = static_cast<uint32_t>(ReadInteger(block, 2, 2));
  std::array<Color, 4> palette = {Expand565(first), Expand565(second)};
  if (first > second || !is_bc1) {
    palette[2] = Mix(palette[0], palette[1], 2, 1);
    palette[3] = Mix(palette[0], palette[1], 1, 2);
  } else {
    palette[2] = Mix(palette[0], palette[1], 1, 1);
    palette[3] = Color{};
  }
  const uint32_t indices = Read32(block, 4);
  for (size_t i = 0; i < 16; ++i) texels[i] = palette[indices >> (2 * i) & 3];
}

std::array<uint8_t, 16> DecodeChannel(std::string_view block) {
  const int first = static_cast<uint8_t>(block[0]);
  const int second = static_cast<uint8_t>(block[1]);
  std::array<int, 8> palette = {first, second, 0, 0, 0, 0, 0, 255};
  const int steps = first > second ? 7 : 5;
  for (int i = 1; i < steps; ++i)
    palette[static_cast<size_t>(i) + 1] = (first * (steps - i) + second * i + steps / 2) / steps;
  const uint64_t indices = ReadInteger(block, 2, 6);
  std::array<uint8_t, 16> values{};
  for (size_t i = 0; i < 16; ++i) values[i] = static_cast<uint8_t>(palette[indices >> (3 * i) & 7]);
  return values;
}

Texels DecodeBlock(std::string_view block, uint32_t vk_format) {
  Texels texels{};
  if (vk_format == 131 || vk_format == 132) {
    DecodeColor(block, true, texels);
  } else if (vk_format == 137 || vk_format == 138) {
    DecodeColor(block.substr(8), false, texels);
    const std::array<uint8_t, 16> alpha = DecodeChannel(block);
    for (size_t i = 0; i < 16; ++i) texels[i].alpha = alpha[i];
  } else {
    const std::array<uint8_t, 16> red = DecodeChannel(block);
    const std::array<uint8_t, 16> green =
        vk_format == 141 ? DecodeChannel(block.substr(8)) : std::array<uint8_t, 16>{};
    for (size_t i = 0; i < 16; ++i) texels[i] = {red[i], green[i], 0, 255};
  }
  return texels;
}

}  // namespace

Ktx2File ReadKtx2(std::string_view file) {
  GALLEY_CHECK(file.substr(0, 12) == std::string_view("\xABKTX 20\xBB\r\n\x1A\n", 12));
  Ktx2File parsed{.vk_format = Read32(file, 12),
                  .type_size = Read32(file, 16),
                  .width = Read32(file, 20),
                  .height = Read32(file, 24),
                  .layers_count = Read32(file, 32),
                  .faces_count = Read32(file, 36),
                  .levels_count = Read32(file, 40),
                  .scheme = Read32(file, 44),
                  .descriptor = {},
                  .key_values = {},
                  .levels = {}};
  GALLEY_CHECK(Read32(file, 28) == 0);
  GALLEY_CHECK(ReadInteger(file, 64, 8) == 0 && ReadInteger(file, 72, 8) == 0);
  parsed.descriptor = Part(file, Read32(file, 48), Read32(file, 52));
  GALLEY_CHECK(Read32(file, 48) == 80 + 24 * parsed.levels_count &&
               Read32(parsed.descriptor, 0) == parsed.descriptor.size());
  GALLEY_CHECK(Read32(file, 56) % 4 == 0);
  parsed.key_values = ReadKeyValues(Part(file, Read32(file, 56), Read32(file, 60)));
  for (size_t i = 0; i < parsed.levels_count; ++i) {
    Ktx2File::Level level{.offset = ReadInteger(file, 80 + 24 * i, 8),
                          .uncompressed_length = ReadInteger(file, 96 + 24 * i, 8),
                          .bytes = {}};
    const std::string_view stored = Part(file, level.offset, ReadInteger(file, 88 + 24 * i, 8));
    level.bytes = stored;
    if (parsed.scheme == 2) {
      level.bytes.assign(level.uncompressed_length, '\0');
      GALLEY_CHECK(ZSTD_decompress(level.bytes.data(), level.bytes.size(), stored.data(),
                                   stored.size()) == level.uncompressed_length);
    }
    GALLEY_CHECK(level.bytes.size() == level.uncompressed_length);
    parsed.levels.push_back(std::move(level));
  }
  return parsed;
}

Bitmap DecodeBlocks(std::string_view bytes, uint32_t width, uint32_t height, uint32_t vk_format) {
  Bitmap bitmap = Constant(width, height, {});
  if (vk_format == 37 || vk_format == 43) {
    for (size_t i = 0; i < bitmap.texels.size(); ++i) {
      const auto at = [&](size_t c) { return static_cast<uint8_t>(bytes[i * 4 + c]); };
      bitmap.texels[i] = {at(0), at(1), at(2), at(3)};
    }
    return bitmap;
  }
  const size_t block_bytes = vk_format <= 132 || vk_format == 139 ? 8 : 16;
  const uint32_t columns = (width + 3) / 4;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const size_t index = size_t{y / 4} * columns + x / 4;
      bitmap.texels[y * width + x] =
          DecodeBlock(Part(bytes, index * block_bytes, block_bytes), vk_format)[y % 4 * 4 + x % 4];
    }
  }
  return bitmap;
}

Bitmap DecodeAstc(std::string_view bytes, uint32_t width, uint32_t height, uint32_t block_width,
                  uint32_t block_height) {
  astcenc_config config{};
  GALLEY_CHECK(astcenc_config_init(ASTCENC_PRF_LDR, block_width, block_height, 1,
                                   ASTCENC_PRE_FASTEST, ASTCENC_FLG_DECOMPRESS_ONLY,
                                   &config) == ASTCENC_SUCCESS);
  astcenc_context* context = nullptr;
  GALLEY_CHECK(astcenc_context_alloc(&config, 1, &context) == ASTCENC_SUCCESS);
  Bitmap bitmap = Constant(width, height, {});
  void* slice = bitmap.texels.data();
  static_assert(sizeof(Color) == 4);
  astcenc_image image{
      .dim_x = width, .dim_y = height, .dim_z = 1, .data_type = ASTCENC_TYPE_U8, .data = &slice};
  constexpr astcenc_swizzle kAsIs = {ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
  GALLEY_CHECK(astcenc_decompress_image(context, reinterpret_cast<const uint8_t*>(bytes.data()),
                                        bytes.size(), &image, &kAsIs, 0) == ASTCENC_SUCCESS);
  astcenc_context_free(context);
  return bitmap;
}

double Psnr(const Bitmap& a, const Bitmap& b, std::string_view channels) {
  GALLEY_CHECK(a.texels.size() == b.texels.size());
  double sum = 0.0;
  for (size_t i = 0; i < a.texels.size(); ++i) {
    const auto add = [&](char channel, uint8_t x, uint8_t y) {
      if (channels.find(channel) != std::string_view::npos) sum += (x - y) * (x - y);
    };
    add('r', a.texels[i].red, b.texels[i].red);
    add('g', a.texels[i].green, b.texels[i].green);
    add('b', a.texels[i].blue, b.texels[i].blue);
    add('a', a.texels[i].alpha, b.texels[i].alpha);
  }
  if (sum == 0.0) return 99.0;
  return 10.0 *
         std::log10(255.0 * 255.0 * static_cast<double>(a.texels.size() * channels.size()) / sum);
}

}  // namespace galley::worker::texture
