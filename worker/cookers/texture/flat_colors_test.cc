#include "worker/cookers/texture/flat_colors.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace galley::worker::texture {
namespace {

using Texel = std::array<uint8_t, 4>;

Image Paint(const std::function<Texel(uint32_t x, uint32_t y)>& at, uint32_t side = 60) {
  std::vector<uint8_t> texels;
  for (uint32_t y = 0; y < side; ++y) {
    for (uint32_t x = 0; x < side; ++x) {
      const Texel texel = at(x, y);
      texels.insert(texels.end(), texel.begin(), texel.end());
    }
  }
  Image image{.width = side, .height = side, .texels = std::move(texels)};
  image.has_alpha = at(0, 0)[3] < 255;
  return image;
}

Texel Ground(uint32_t x, uint32_t y) {
  if (x % 20 == 7 && y % 15 == 4) return {255, 96, 0, 255};  // a tree
  return x / 17 + y / 23 > 2 ? Texel{120, 120, 120, 255} : Texel{0, 0, 0, 255};
}
uint8_t Byte(uint32_t value) { return static_cast<uint8_t>(value); }

TEST(FlatColorsTest, AGridOfIndicesIsFlat) {
  EXPECT_TRUE(HasFlatColors(Paint(Ground)));
  EXPECT_TRUE(HasFlatColors(Paint(Ground, 2048))) << "of a large one some rows are looked at";
}

TEST(FlatColorsTest, ShadesAreNotFlat) {
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t x, uint32_t) {
    return Texel{Byte(x), 0, 0, 255};
  }))) << "a slope";
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t x, uint32_t y) {
    return Texel{Byte(x * 37 + y * 91), Byte(y * 53), Byte(x * y), 255};
  }))) << "many colours";
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t x, uint32_t y) {
    Texel texel = Ground(x, y);
    if (x % 17 == 0) texel[0] = Byte(texel[0] + 12);  // antialiased
    return texel;
  })));
}

TEST(FlatColorsTest, NoiseOfFewColorsIsNotFlat) {
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t x, uint32_t y) {
    return (x * 7 + y * 13) % 3 == 0 ? Texel{255, 0, 0, 255} : Texel{0, 0, 255, 255};
  })));
}

TEST(FlatColorsTest, OneColorAlphaDepthAndSmallSizesAreNotFlat) {
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t, uint32_t) { return Texel{9, 9, 9, 255}; })));
  EXPECT_FALSE(HasFlatColors(Paint([](uint32_t x, uint32_t y) {
    Texel texel = Ground(x, y);
    texel[3] = 128;
    return texel;
  })));
  EXPECT_FALSE(HasFlatColors(Paint(Ground, 7)));
  EXPECT_FALSE(HasFlatColors({.width = 16, .height = 16, .texels = std::vector<uint16_t>(1024)}));
  EXPECT_FALSE(HasFlatColors({}));
}

}  // namespace
}  // namespace galley::worker::texture
