#include "worker/cookers/texture/ktx2_writer.h"

#include <zstd.h>

#include <numeric>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "worker/cookers/texture/ktx2_format.h"

namespace galley::worker::texture {
namespace {

constexpr size_t kHeaderBytes = 80;
constexpr size_t kLevelIndexEntryBytes = 24;

void Put8(std::string& out, uint32_t value) { out.push_back(static_cast<char>(value & 0xff)); }
void Put16(std::string& out, uint32_t value) {
  Put8(out, value);
  Put8(out, value >> 8);
}
void Put32(std::string& out, uint32_t value) {
  Put16(out, value);
  Put16(out, value >> 16);
}
void Put64(std::string& out, uint64_t value) {
  Put32(out, static_cast<uint32_t>(value));
  Put32(out, static_cast<uint32_t>(value >> 32));
}
void Pad(std::string& out, size_t alignment) {
  out.append((alignment - out.size() % alignment) % alignment, '\0');
}

// --- The data format descriptor.
// Source: Khronos Data Format Specification 1.3, chapter 5; numbers from khr_df.h.

constexpr uint32_t kModelRgbsda = 1;
constexpr uint32_t kModelBc1a = 128;
constexpr uint32_t kModelBc3 = 130;
constexpr uint32_t kModelBc4 = 131;
constexpr uint32_t kModelBc5 = 132;
constexpr uint32_t kModelAstc = 162;
constexpr uint32_t kPrimariesBt709 = 1;
constexpr uint32_t kTransferLinear = 1;
constexpr uint32_t kTransferSrgb = 2;
constexpr uint32_t kChannelAlpha = 15;
constexpr uint32_t kQualifierLinear = 0x10;
constexpr uint32_t kQualifierSigned = 0x40;
constexpr uint32_t kQualifierFloat = 0x80;
constexpr uint32_t kMinusOne = 0xBF800000;  // as a float's bits
constexpr uint32_t kPlusOne = 0x3F800000;

struct Sample {
  uint32_t bit_offset = 0;
  uint32_t bit_length = 0;
  uint32_t channel = 0;  // with qualifiers
  uint32_t lower = 0;
  uint32_t upper = UINT32_MAX;
};

uint32_t ColorModel(FormatKind kind) {
  switch (kind) {
    case FormatKind::kRgba8:
    case FormatKind::kRgba16f:
      return kModelRgbsda;
    case FormatKind::kBc1:
      return kModelBc1a;
    case FormatKind::kBc3:
      return kModelBc3;
    case FormatKind::kBc4:
      return kModelBc4;
    case FormatKind::kBc5:
      return kModelBc5;
    case FormatKind::kAstc:
      return kModelAstc;
  }
  return 0;
}

std::vector<Sample> Samples(const TextureFormat& format) {
  // Alpha is linear even where colour is sRGB.
  const uint32_t alpha = kChannelAlpha | (format.is_srgb ? kQualifierLinear : 0);
  std::vector<Sample> samples;
  switch (format.kind) {
    case FormatKind::kRgba8:
      for (uint32_t c = 0; c < 4; ++c) {
        samples.push_back(
            {.bit_offset = c * 8, .bit_length = 8, .channel = c == 3 ? alpha : c, .upper = 255});
      }
      return samples;
    case FormatKind::kRgba16f:
      for (uint32_t c = 0; c < 4; ++c) {
        const uint32_t channel = (c == 3 ? kChannelAlpha : c) | kQualifierSigned | kQualifierFloat;
        samples.push_back({.bit_offset = c * 16,
                           .bit_length = 16,
                           .channel = channel,
                           .lower = kMinusOne,
                           .upper = kPlusOne});
      }
      return samples;
    case FormatKind::kBc1:
    case FormatKind::kBc4:
      return {{.bit_offset = 0, .bit_length = 64, .channel = 0}};
    case FormatKind::kBc3:
      return {{.bit_offset = 0, .bit_length = 64, .channel = alpha},
              {.bit_offset = 64, .bit_length = 64, .channel = 0}};
    case FormatKind::kBc5:
      return {{.bit_offset = 0, .bit_length = 64, .channel = 0},
              {.bit_offset = 64, .bit_length = 64, .channel = 1}};
    case FormatKind::kAstc:
      return {{.bit_offset = 0, .bit_length = 128, .channel = 0}};
  }
  return samples;
}

std::string DataFormatDescriptor(const TextureFormat& format, bool is_supercompressed) {
  const std::vector<Sample> samples = Samples(format);
  const uint32_t block_bytes = static_cast<uint32_t>(24 + 16 * samples.size());
  std::string out;
  Put32(out, block_bytes + 4);
  Put32(out, 0);  // vendor Khronos, basic descriptor
  Put16(out, 2);  // version 1.3
  Put16(out, block_bytes);
  Put8(out, ColorModel(format.kind));
  Put8(out, kPrimariesBt709);
  Put8(out, format.is_srgb ? kTransferSrgb : kTransferLinear);
  Put8(out, 0);  // straight alpha
  Put8(out, format.block().width - 1);
  Put8(out, format.block().height - 1);
  Put16(out, 0);  // depth 1
  Put8(out, is_supercompressed ? 0 : format.block_bytes());
  out.append(7, '\0');
  for (const Sample& sample : samples) {
    Put16(out, sample.bit_offset);
    Put8(out, sample.bit_length - 1);
    Put8(out, sample.channel);
    Put32(out, 0);  // position
    Put32(out, sample.lower);
    Put32(out, sample.upper);
  }
  return out;
}

// Keys in the order of their bytes, as the specification asks.
std::string KeyValueData(std::string_view swizzle) {
  std::string out;
  const auto put = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    Put32(out, static_cast<uint32_t>(key.size() + value.size() + 2));
    out.append(key).push_back('\0');
    out.append(value).push_back('\0');
    Pad(out, 4);
  };
  put("KTXorientation", "rd");
  put("KTXswizzle", swizzle);
  put("KTXwriter", "galley");
  return out;
}

absl::StatusOr<std::string> Supercompress(const std::string& level, int zstd_level) {
  std::string out(ZSTD_compressBound(level.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), level.data(), level.size(), zstd_level);
  if (ZSTD_isError(size) != 0) return InternalError("zstd: {}", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

}  // namespace

absl::StatusOr<std::string> WriteKtx2(const Ktx2Texture& texture) {
  GALLEY_CHECK(!texture.levels.empty());
  const bool is_supercompressed = texture.zstd_level != 0;
  const size_t levels_count = texture.levels.size();
  const std::string descriptor = DataFormatDescriptor(texture.format, is_supercompressed);
  const std::string key_values = KeyValueData(texture.swizzle);
  const size_t descriptor_offset = kHeaderBytes + kLevelIndexEntryBytes * levels_count;
  const size_t key_values_offset = descriptor_offset + descriptor.size();

  // The levels come first, since the index holds their offsets.
  const size_t alignment =
      is_supercompressed ? 1 : std::lcm(size_t{texture.format.block_bytes()}, size_t{4});
  const size_t head_bytes = key_values_offset + key_values.size();
  std::string head_and_body(head_bytes, '\0');
  std::vector<std::pair<uint64_t, uint64_t>> places(levels_count);  // offset, length
  for (size_t i = levels_count; i-- > 0;) {
    Pad(head_and_body, alignment);
    const size_t offset = head_and_body.size();
    if (is_supercompressed) {
      ASSIGN_OR_RETURN(const std::string packed,
                       Supercompress(texture.levels[i], texture.zstd_level));
      head_and_body += packed;
    } else {
      head_and_body += texture.levels[i];
    }
    places[i] = {offset, head_and_body.size() - offset};
  }

  std::string head(kKtx2Identifier);
  Put32(head, texture.format.vk_format());
  Put32(head, texture.format.type_size());
  Put32(head, texture.width);
  Put32(head, texture.height);
  Put32(head, 0);  // depth: two-dimensional
  Put32(head, texture.layers_count);
  Put32(head, texture.faces_count);
  Put32(head, static_cast<uint32_t>(levels_count));
  Put32(head, is_supercompressed ? kKtx2SchemeZstd : 0);
  Put32(head, static_cast<uint32_t>(descriptor_offset));
  Put32(head, static_cast<uint32_t>(descriptor.size()));
  Put32(head, static_cast<uint32_t>(key_values_offset));
  Put32(head, static_cast<uint32_t>(key_values.size()));
  Put64(head, 0);  // no supercompression global data
  Put64(head, 0);
  for (size_t i = 0; i < levels_count; ++i) {
    Put64(head, places[i].first);
    Put64(head, places[i].second);
    Put64(head, texture.levels[i].size());
  }
  head += descriptor;
  head += key_values;
  GALLEY_CHECK(head.size() == head_bytes);
  head_and_body.replace(0, head_bytes, head);
  return head_and_body;
}

}  // namespace galley::worker::texture
