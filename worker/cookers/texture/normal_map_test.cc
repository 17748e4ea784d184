#include "worker/cookers/texture/normal_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace galley::worker::texture {
namespace {

using ::testing::HasSubstr;

using Color = std::array<double, 4>;

Image Make(const std::function<Color(double u, double v)>& at, uint32_t side = 64) {
  std::vector<uint8_t> texels;
  for (uint32_t y = 0; y < side; ++y) {
    for (uint32_t x = 0; x < side; ++x) {
      for (const double value : at((x + 0.5) / side, (y + 0.5) / side))
        texels.push_back(static_cast<uint8_t>(std::lround(value * 255)));
    }
  }
  return {.width = side, .height = side, .texels = std::move(texels)};
}

// The normals of waves; `up` is 1 for green up (OpenGL) and -1 for green down (Direct3D).
Color Wave(double u, double v, double up = 1) {
  const double x = 0.5 * std::sin(20 * u), y = up * 0.4 * std::cos(14 * v);
  return {x * 0.5 + 0.5, y * 0.5 + 0.5, std::sqrt(1 - x * x - y * y) * 0.5 + 0.5, 1};
}

Pixels Judge(const Image& image) { return JudgePixels(image).pixels; }

TEST(NormalMapTest, UnitVectorsThatPointUpAreANormalMap) {
  EXPECT_EQ(Judge(Make([](double u, double v) { return Wave(u, v); })), Pixels::kNormals);
  EXPECT_EQ(Judge(Make([](double u, double v) { return Wave(u, v, -1); })), Pixels::kNormals);
  EXPECT_EQ(Judge(Make([](double u, double v) { return Wave(u, v); }, 1024)), Pixels::kNormals);
}

TEST(NormalMapTest, AFlatOneIsANormalMapToo) {
  EXPECT_EQ(Judge(Make([](double, double) {
              return Color{0.502, 0.502, 1, 1};
            })),
            Pixels::kNormals);
}

TEST(NormalMapTest, WhatIsBlackOrClearDoesNotCount) {
  const auto island = [](double outside_alpha) {
    return [=](double u, double v) {
      return u < 0.4 ? Color{0, 0, outside_alpha == 0 ? 0.3 : 0, outside_alpha} : Wave(u, v);
    };
  };
  EXPECT_EQ(Judge(Make(island(1))), Pixels::kNormals);
  EXPECT_EQ(Judge(Make(island(0))), Pixels::kNormals);
}

// Found in gnu_Normal.png and willow_b_nm.jpg of SuperTuxKart.
TEST(NormalMapTest, TheWhiteAroundAMapDoesNotCountEither) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              return u < 0.6 ? Color{1, 1, 1, 1} : Wave(u, v);
            })),
            Pixels::kNormals);
  EXPECT_EQ(Judge(Make([](double, double) { return Color{1, 1, 1, 1}; })), Pixels::kGrey);
}

// Found in konqi_kart01_Normal.png: the map ends in a seam of dark texels.
TEST(NormalMapTest, TheSeamTowardsABlackGroundMakesItLikeNormals) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              if (u < 0.3) return Color{0, 0, 0, 1};
              Color color = Wave(u, v);
              if (u < 0.38)
                for (int c = 0; c < 3; ++c) color[c] *= 0.4;
              return color;
            })),
            Pixels::kLooseNormals);
}

// Found in fir_bark_nm.png: x and y were made larger, and z stayed.
TEST(NormalMapTest, SlopesThatAreTooSteepForUnitVectorsAreLikeNormals) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              return Color{0.5 + 0.38 * std::sin(40 * u), 0.5 + 0.3 * std::cos(30 * v), 0.99, 1};
            })),
            Pixels::kLooseNormals);
}

// Found in summersky_n.jpg and sky_nord.jpg, whose vectors are about 1 long.
TEST(NormalMapTest, ASkyIsNotEvenLikeNormals) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              return Color{0.30 + 0.04 * u, 0.66 + 0.05 * v, 0.79, 1};
            })),
            Pixels::kColor);
}

// Found in OverIce.png of Trigger Rally: a white snowflake on a lilac ground.
TEST(NormalMapTest, ASignInShadesOfOneHueIsNoNormalMap) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              if (u > 0.4 && u < 0.6) return Color{1, 1, 1, 1};
              return v < 0.02 ? Color{0.55, 0.55, 1, 1} : Color{0.435, 0.435, 1, 1};
            })),
            Pixels::kColor);
}

TEST(NormalMapTest, NormalsThatLostTheirLengthAreLikeNormals) {
  EXPECT_EQ(Judge(Make([](double u, double v) {
              Color color = Wave(u, v);
              for (int c = 0; c < 3; ++c) color[c] = 0.5 + (color[c] - 0.5) * 0.78;
              return color;
            })),
            Pixels::kLooseNormals);
}

TEST(NormalMapTest, XAndYWithoutZAreATwoChannelMap) {
  for (const double blue : {0.0, 1.0}) {
    EXPECT_EQ(Judge(Make([&](double u, double v) {
                Color color = Wave(u, v);
                return Color{0.5 + (color[0] - 0.5) * 1.4, 0.5 + (color[1] - 0.5) * 1.4, blue, 1};
              })),
              Pixels::kTwoChannel)
        << blue;
  }
}

TEST(NormalMapTest, PicturesAreColor) {
  EXPECT_EQ(Judge(Make([](double u, double v) { return Color{u, v, 0.2, 1}; })), Pixels::kColor);
  EXPECT_EQ(Judge(Make([](double u, double v) {
              return Color{0.8, 0.1 + 0.2 * u, 0.1 * v, 1};
            })),
            Pixels::kColor);
  EXPECT_NE(Judge(Make([](double, double v) {  // a sky
              return Color{0.35 + 0.2 * v, 0.55 + 0.2 * v, 0.95, 1};
            })),
            Pixels::kNormals);
  EXPECT_EQ(Judge(Make([](double, double) {
              return Color{0.5, 0.25, 0.9, 1};
            })),
            Pixels::kColor)
      << "one colour";
}

TEST(NormalMapTest, GreyIsGreyAlsoAfterJpeg) {
  EXPECT_EQ(Judge(Make([](double u, double) { return Color{u, u, u, 1}; })), Pixels::kGrey);
  EXPECT_EQ(Judge(Make([](double u, double) {
              return Color{u * 0.99, u, u * 0.98, 1};
            })),
            Pixels::kGrey);
  EXPECT_EQ(Judge(Make([](double, double) { return Color{0, 0, 0, 1}; })), Pixels::kGrey);
}

TEST(NormalMapTest, DeeperImagesAreJudgedAlike) {
  Image image{.width = 2, .height = 1, .texels = std::vector<uint16_t>{}};
  image.texels = std::vector<uint16_t>{32768, 32768, 65535, 65535, 32768, 32768, 65535, 65535};
  EXPECT_EQ(Judge(image), Pixels::kNormals);
}

TEST(NormalMapTest, TheWarningSaysWhatThePixelsAre) {
  const PixelFacts grey = JudgePixels(Make([](double u, double) { return Color{u, u, u, 1}; }));
  EXPECT_THAT(NormalMapWarning(grey), HasSubstr("their mean is (0.5"));
  EXPECT_THAT(NormalMapWarning(grey), HasSubstr("set usage to \"color\" or \"mask\""));
  for (const Pixels pixels : {Pixels::kNormals, Pixels::kLooseNormals, Pixels::kTwoChannel})
    EXPECT_EQ(NormalMapWarning({.pixels = pixels}), "");
}

}  // namespace
}  // namespace galley::worker::texture
