#include "worker/cookers/texture/mip_chain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "worker/cookers/texture/testing/sample_images.h"
#include "worker/cookers/texture/transfer.h"

namespace galley::worker::texture {
namespace {

Image ImageOf(const Bitmap& bitmap) {
  Image image{.width = bitmap.width, .height = bitmap.height, .texels = {}, .has_alpha = false};
  std::vector<uint8_t> texels;
  for (const Color& color : bitmap.texels) {
    texels.insert(texels.end(), {color.red, color.green, color.blue, color.alpha});
    image.has_alpha |= color.alpha != 255;
  }
  image.texels = std::move(texels);
  return image;
}

Color Texel(const Level& level, size_t i = 0) {
  return {level.texels[i * 4], level.texels[i * 4 + 1], level.texels[i * 4 + 2],
          level.texels[i * 4 + 3]};
}

std::string Sizes(const std::vector<Level>& levels) {
  std::string text;
  for (const Level& level : levels)
    text += std::to_string(level.width) + "x" + std::to_string(level.height) + " ";
  return text;
}

TEST(MipChainTest, HalvesRoundingDownToOneByOne) {
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(13, 4)), {})), "13x4 6x2 3x1 1x1 ");
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(1, 1)), {})), "1x1 ");
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(1, 5)), {})), "1x5 1x2 1x1 ");
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(13, 4)), {.mipmaps = false})), "13x4 ");
}

TEST(MipChainTest, MaxSizeHalvesUntilItFits) {
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(64, 16)), {.max_size = 20})),
            "16x4 8x2 4x1 2x1 1x1 ");
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(64, 16)), {.mipmaps = false, .max_size = 32})),
            "32x8 ");
  EXPECT_EQ(Sizes(MakeMipChain(ImageOf(Gradient(64, 16)), {.mipmaps = false, .max_size = 64})),
            "64x16 ");
}

TEST(MipChainTest, AConstantImageStaysConstantWhateverItsColor) {
  for (const Usage usage : {Usage::kColor, Usage::kMask}) {
    for (const ColorSpace space : {ColorSpace::kSrgb, ColorSpace::kLinear}) {
      for (uint32_t value = 0; value < 256; value += 5) {
        const uint8_t v = static_cast<uint8_t>(value);
        const Color color{v, static_cast<uint8_t>(255 - v), 77, static_cast<uint8_t>(v / 2 + 100)};
        for (const Level& level :
             MakeMipChain(ImageOf(Constant(7, 3, color)), {.usage = usage, .color_space = space})) {
          for (size_t i = 0; i < level.texels.size() / 4; ++i)
            ASSERT_EQ(Texel(level, i), color) << value;
        }
      }
    }
  }
}

TEST(MipChainTest, MeansAreTakenInLinearLight) {
  const Bitmap checks = MakeBitmap(2, 2, [](uint32_t x, uint32_t y) {
    const uint8_t v = x == y ? 255 : 0;
    return Color{v, v, v, 255};
  });
  // Half the light is 188 in sRGB, not 128.
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(checks), {})[1]), (Color{188, 188, 188, 255}));
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(checks), {.color_space = ColorSpace::kLinear})[1]),
            (Color{128, 128, 128, 255}));
}

TEST(MipChainTest, OddSidesShareByTheAreaCovered) {
  const Bitmap bitmap = MakeBitmap(3, 1, [](uint32_t x, uint32_t) {
    return Color{static_cast<uint8_t>(x == 1 ? 240 : 0), 0, 0, 255};
  });
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(bitmap), {.color_space = ColorSpace::kLinear})[1]).red, 80);
  // Five texels to two: the first result covers texels 0, 1 and half of 2.
  const Bitmap five = MakeBitmap(5, 1, [](uint32_t x, uint32_t) {
    return Color{static_cast<uint8_t>(x == 2 ? 250 : 0), 0, 0, 255};
  });
  const Level level = MakeMipChain(ImageOf(five), {.color_space = ColorSpace::kLinear})[1];
  EXPECT_EQ(Texel(level, 0).red, 50);
  EXPECT_EQ(Texel(level, 1).red, 50);
}

TEST(MipChainTest, TransparentTexelsLendNoColor) {
  const Bitmap bitmap = MakeBitmap(2, 2, [](uint32_t x, uint32_t) {
    return x == 0 ? Color{200, 100, 50, 255} : Color{0, 255, 0, 0};
  });
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(bitmap), {})[1]), (Color{200, 100, 50, 128}));
  // The channels of a mask are independent.
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(bitmap),
                               {.usage = Usage::kMask, .color_space = ColorSpace::kLinear})[1]),
            (Color{100, 178, 25, 128}));
}

TEST(MipChainTest, WhereAllIsTransparentColorIsThePlainMean) {
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(Constant(2, 2, {200, 100, 50, 0})), {})[1]),
            (Color{200, 100, 50, 0}));
}

TEST(MipChainTest, NormalsHaveLengthOneOnEveryLevel) {
  const std::vector<Level> levels = MakeMipChain(
      ImageOf(Waves(64, 48)), {.usage = Usage::kNormal, .color_space = ColorSpace::kLinear});
  for (const Level& level : levels) {
    for (size_t i = 0; i < level.texels.size() / 4; ++i) {
      const Color c = Texel(level, i);
      const double x = c.red / 127.5 - 1.0;
      const double y = c.green / 127.5 - 1.0;
      const double z = c.blue / 127.5 - 1.0;
      ASSERT_NEAR(std::sqrt(x * x + y * y + z * z), 1.0, 0.012);
    }
  }
}

TEST(MipChainTest, NormalsThatCancelOutPointUp) {
  const Bitmap bitmap = MakeBitmap(2, 1, [](uint32_t x, uint32_t) {
    return x == 0 ? Color{255, 128, 128, 255} : Color{0, 127, 127, 255};
  });
  EXPECT_EQ(Texel(MakeMipChain(ImageOf(bitmap),
                               {.usage = Usage::kNormal, .color_space = ColorSpace::kLinear})[1]),
            (Color{128, 128, 255, 255}));
}

TEST(MipChainTest, SixteenBitsAreRoundedToEight) {
  Image image{.width = 1,
              .height = 1,
              .texels = std::vector<uint16_t>{0, 128, 129, 65535},
              .has_alpha = false};
  EXPECT_EQ(Texel(MakeMipChain(image, {})[0]), (Color{0, 0, 1, 255}));
}

TEST(MipChainTest, HalvesHoldLinearLight) {
  const std::vector<Level> levels =
      MakeMipChain(ImageOf(Constant(2, 1, {255, 0, 188, 255})), {.texel_type = TexelType::kHalf});
  ASSERT_EQ(levels.size(), 2u);
  for (const Level& level : levels) {
    EXPECT_EQ(level.texels[0] | level.texels[1] << 8, 0x3c00);
    EXPECT_EQ(level.texels[2] | level.texels[3] << 8, 0);
    EXPECT_EQ(level.texels[4] | level.texels[5] << 8,
              EncodeHalf(static_cast<float>(DecodeSrgb(188 / 255.0))));
  }
}

TEST(TransferTest, SrgbAgreesWithTheStandardsFormula) {
  for (int i = 0; i <= 1000; ++i) {
    const double v = i / 1000.0;
    const double expected = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(DecodeSrgb(v), expected, 1e-14);
  }
}

TEST(TransferTest, EncodingGivesTheNearestValueForAllOfLight) {
  const SrgbEncoder& encoder = SrgbEncoder::Instance();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(encoder.Encode(SrgbToLinear8()[static_cast<size_t>(i)]), i);
    if (i == 255) continue;
    const float middle = static_cast<float>(DecodeSrgb((i + 0.5) / 255.0));
    EXPECT_EQ(encoder.Encode(std::nextafter(middle, 0.0f)), i);
    EXPECT_EQ(encoder.Encode(middle), i + 1);
  }
  EXPECT_EQ(encoder.Encode(-1.0f), 0);
  EXPECT_EQ(encoder.Encode(2.0f), 255);
  EXPECT_EQ(encoder.Encode(std::nanf("")), 0);
}

TEST(TransferTest, HalvesRoundToNearestEven) {
  EXPECT_EQ(EncodeHalf(0.0f), 0x0000);
  EXPECT_EQ(EncodeHalf(1.0f), 0x3c00);
  EXPECT_EQ(EncodeHalf(-2.0f), 0xc000);
  EXPECT_EQ(EncodeHalf(65504.0f), 0x7bff);
  EXPECT_EQ(EncodeHalf(1e9f), 0x7bff);
  EXPECT_EQ(EncodeHalf(1.0f + 0x1p-11f), 0x3c00);             // a tie, to even
  EXPECT_EQ(EncodeHalf(1.0f + 0x1p-10f + 0x1p-11f), 0x3c02);  // a tie, to even
  EXPECT_EQ(EncodeHalf(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);
  EXPECT_EQ(EncodeHalf(2.0f - 0x1p-12f), 0x4000);  // carries into the exponent
  EXPECT_EQ(EncodeHalf(0x1p-14f), 0x0400);
  EXPECT_EQ(EncodeHalf(0x1p-24f), 0x0001);
  EXPECT_EQ(EncodeHalf(0x1.8p-24f), 0x0002);           // a tie, to even
  EXPECT_EQ(EncodeHalf(0x1p-25f), 0x0000);             // a tie, to even
  EXPECT_EQ(EncodeHalf(0x1p-14f - 0x1p-26f), 0x0400);  // rounds up to the smallest normal
  EXPECT_EQ(EncodeHalf(std::nanf("")), 0);
}

}  // namespace
}  // namespace galley::worker::texture
