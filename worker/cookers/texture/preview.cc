#include "worker/cookers/texture/preview.h"

#include <astcenc.h>
#include <squish.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/texture/ktx2_reader.h"
#include "worker/cookers/texture/transfer.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

using Texels = std::vector<uint8_t>;

struct FreeContext {
  void operator()(astcenc_context* context) const { astcenc_context_free(context); }
};

absl::Status AstcFailure(astcenc_error error) {
  const std::string text = fmt::format("astcenc: {}", astcenc_get_error_string(error));
  return error == ASTCENC_ERR_OUT_OF_MEM ? OutOfMemoryError("{}", text)
                                         : absl::InvalidArgumentError(text);
}

absl::Status DecodeAstc(const TextureFormat& format, const std::string& blocks, const Image& size,
                        Texels& texels) {
  const BlockSize block = format.block();
  astcenc_config config{};
  const astcenc_profile profile = format.is_srgb ? ASTCENC_PRF_LDR_SRGB : ASTCENC_PRF_LDR;
  astcenc_error error =
      astcenc_config_init(profile, block.width, block.height, 1, ASTCENC_PRE_FASTEST,
                          ASTCENC_FLG_DECOMPRESS_ONLY, &config);
  if (error != ASTCENC_SUCCESS) return AstcFailure(error);
  astcenc_context* made = nullptr;
  error = astcenc_context_alloc(&config, 1, &made);
  if (error != ASTCENC_SUCCESS) return AstcFailure(error);
  const std::unique_ptr<astcenc_context, FreeContext> context(made);
  void* slice = texels.data();
  astcenc_image image{.dim_x = size.width,
                      .dim_y = size.height,
                      .dim_z = 1,
                      .data_type = ASTCENC_TYPE_U8,
                      .data = &slice};
  constexpr astcenc_swizzle kAsIs = {ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
  error = astcenc_decompress_image(context.get(), reinterpret_cast<const uint8_t*>(blocks.data()),
                                   blocks.size(), &image, &kAsIs, 0);
  return error == ASTCENC_SUCCESS ? absl::OkStatus() : AstcFailure(error);
}

// BC4 and BC5 blocks equal the alpha halves of BC3 blocks, so that squish 1.15 can read them.
void DecodeChannel(const std::string& blocks, size_t offset, size_t stride, size_t channel,
                   const Image& image, Texels& texels) {
  const uint32_t columns = (image.width + 3) / 4;
  std::array<char, 16> block{};
  std::array<uint8_t, 64> rgba{};
  for (size_t i = 0; i * stride < blocks.size(); ++i) {
    std::copy_n(blocks.data() + i * stride + offset, 8, block.begin());
    squish::Decompress(rgba.data(), block.data(), squish::kDxt5);
    for (size_t k = 0; k < 16; ++k) {
      const size_t x = i % columns * 4 + k % 4;
      const size_t y = i / columns * 4 + k / 4;
      if (x < image.width && y < image.height)
        texels[(y * image.width + x) * 4 + channel] = rgba[k * 4 + 3];
    }
  }
}

void DecodeColors(const std::string& blocks, int flags, const Image& image, Texels& texels) {
  squish::DecompressImage(texels.data(), static_cast<int>(image.width),
                          static_cast<int>(image.height), blocks.data(), flags);
}

// Makes colours of x in red and y in the channel `y_channel`, both 0..255.
void DrawNormals(Texels& texels, size_t y_channel) {
  for (size_t i = 0; i < texels.size(); i += 4) {
    const float x = static_cast<float>(texels[i]) / 255.0f * 2.0f - 1.0f;
    const float y = static_cast<float>(texels[i + y_channel]) / 255.0f * 2.0f - 1.0f;
    const float z = std::sqrt(std::max(0.0f, 1.0f - x * x - y * y));
    texels[i + 1] = texels[i + y_channel];
    texels[i + 2] = EncodeUnorm8(z * 0.5f + 0.5f);
    texels[i + 3] = 255;
  }
}

void DrawRed(Texels& texels) {
  for (size_t i = 0; i < texels.size(); i += 4) {
    texels[i + 1] = texels[i + 2] = texels[i];
    texels[i + 3] = 255;
  }
}

void DrawHalves(const std::string& halves, Texels& texels) {
  const auto at = [&](size_t i) {
    return DecodeHalf(static_cast<uint16_t>(static_cast<uint8_t>(halves[i * 2]) |
                                            static_cast<uint8_t>(halves[i * 2 + 1]) << 8));
  };
  float white = 1.0f;
  for (size_t i = 0; i < texels.size(); ++i) {
    if (i % 4 != 3) white = std::max(white, at(i));
  }
  for (size_t i = 0; i < texels.size(); ++i) {
    const float value = std::max(0.0f, at(i));
    if (i % 4 == 3) {
      texels[i] = EncodeUnorm8(value);
    } else {
      const float mapped =
          white > 1.0f ? value * (1.0f + value / (white * white)) / (1.0f + value) : value;
      texels[i] = SrgbEncoder::Instance().Encode(mapped);
    }
  }
}

}  // namespace

absl::StatusOr<Image> DecodePreview(std::string_view ktx2, const PreviewOptions& options) {
  ASSIGN_OR_RETURN(const Ktx2Contents contents, ParseKtx2(ktx2));
  if (options.level >= contents.levels.size() || options.image >= contents.images_count()) {
    return VerdictError("there is no level {}, image {}: the texture has {} levels and {} images",
                        options.level, options.image, contents.levels.size(),
                        contents.images_count());
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadKtx2Image(contents, options.level, options.image));
  Image image{.width = contents.level_width(options.level),
              .height = contents.level_height(options.level)};
  Texels texels(size_t{image.width} * image.height * 4);
  switch (contents.format.kind) {
    case FormatKind::kRgba8:
      texels.assign(bytes.begin(), bytes.end());
      break;
    case FormatKind::kRgba16f:
      DrawHalves(bytes, texels);
      break;
    case FormatKind::kAstc:
      RETURN_IF_ERROR(DecodeAstc(contents.format, bytes, image, texels));
      if (contents.swizzle == "ra01") DrawNormals(texels, 3);
      break;
    case FormatKind::kBc1:
      DecodeColors(bytes, squish::kDxt1, image, texels);
      break;
    case FormatKind::kBc3:
      DecodeColors(bytes, squish::kDxt5, image, texels);
      break;
    case FormatKind::kBc4:
      DecodeChannel(bytes, 0, 8, 0, image, texels);
      DrawRed(texels);
      break;
    case FormatKind::kBc5:
      DecodeChannel(bytes, 0, 16, 0, image, texels);
      DecodeChannel(bytes, 8, 16, 1, image, texels);
      DrawNormals(texels, 1);
      break;
  }
  image.texels = std::move(texels);
  return image;
}

}  // namespace galley::worker::texture
