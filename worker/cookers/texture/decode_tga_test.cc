#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/cookers/texture/testing/decoding.h"

namespace galley::worker::texture {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kFromTop = 0x20;
constexpr uint32_t kFromRight = 0x10;

struct TgaOptions {
  uint32_t kind = 2;  // 1 mapped, 2 colour, 3 grey; + 8: run lengths
  uint32_t width = 2;
  uint32_t height = 1;
  uint32_t bits = 24;
  uint32_t flags = kFromTop;  // and the number of alpha bits
  uint32_t map_first = 0;
  uint32_t map_count = 0;
  uint32_t map_bits = 0;
};

// The header, and an image id, "id", before the image.
FileBytes Tga(const TgaOptions& options) {
  FileBytes file;
  file.Put8({2, options.map_count > 0 ? 1u : 0u, options.kind});
  file.Put16({options.map_first, options.map_count}).Put8({options.map_bits});
  file.Put16({0, 0, options.width, options.height}).Put8({options.bits, options.flags});
  file.Text("id");
  return file;
}

constexpr Color kRed = {255, 0, 0, 255};
constexpr Color kBlue = {0, 0, 255, 255};
constexpr Color kGreen = {0, 255, 0, 255};

std::vector<Color> Texels(const FileBytes& file) {
  return DecodedBitmap("tga", file.bytes()).texels;
}

TEST(DecodeTgaTest, EachOfTheFourCornersMayComeFirst) {
  const auto decoded = [](uint32_t flags) {
    return Texels(Tga({.width = 2, .height = 2, .flags = flags})
                      .Put8({0, 0, 255, 0, 255, 0, 255, 0, 0, 9, 9, 9}));
  };
  constexpr Color kGrey = {9, 9, 9, 255};
  EXPECT_THAT(decoded(kFromTop), ElementsAre(kRed, kGreen, kBlue, kGrey));
  EXPECT_THAT(decoded(0), ElementsAre(kBlue, kGrey, kRed, kGreen));
  EXPECT_THAT(decoded(kFromTop | kFromRight), ElementsAre(kGreen, kRed, kGrey, kBlue));
  EXPECT_THAT(decoded(kFromRight), ElementsAre(kGrey, kBlue, kGreen, kRed));
}

TEST(DecodeTgaTest, FifteenAndSixteenBitsAreFiveAChannel) {
  EXPECT_THAT(Texels(Tga({.bits = 16}).Put16({0x7c00, 3u << 5 | 31})),
              ElementsAre(kRed, (Color{0, 25, 255, 255})));
  EXPECT_THAT(Texels(Tga({.bits = 15}).Put16({0xfc00, 0x001f})), ElementsAre(kRed, kBlue));
}

TEST(DecodeTgaTest, TheSixteenthBitIsAlphaWhenTheHeaderSaysSo) {
  EXPECT_THAT(Texels(Tga({.bits = 16, .flags = kFromTop | 1}).Put16({0x7c00, 0x801f})),
              ElementsAre((Color{255, 0, 0, 0}), kBlue));
}

TEST(DecodeTgaTest, TheFourthByteIsAlphaUnlessItIsUnusedAndClearEverywhere) {
  const auto decoded = [](uint32_t flags, uint32_t second_alpha) {
    return Texels(Tga({.bits = 32, .flags = flags}).Put8({0, 0, 255, 0, 255, 0, 0, second_alpha}));
  };
  constexpr Color kClearRed = {255, 0, 0, 0};
  EXPECT_THAT(decoded(kFromTop | 8, 80), ElementsAre(kClearRed, (Color{0, 0, 255, 80})));
  EXPECT_THAT(decoded(kFromTop | 8, 0), ElementsAre(kClearRed, (Color{0, 0, 255, 0})));
  EXPECT_THAT(decoded(kFromTop, 80), ElementsAre(kClearRed, (Color{0, 0, 255, 80})));
  EXPECT_THAT(decoded(kFromTop, 0), ElementsAre(kRed, kBlue));
}

TEST(DecodeTgaTest, GreyHasEightBitsOrSixteenWithAlpha) {
  EXPECT_THAT(Texels(Tga({.kind = 3, .bits = 8}).Put8({7, 200})),
              ElementsAre((Color{7, 7, 7, 255}), (Color{200, 200, 200, 255})));
  EXPECT_THAT(Texels(Tga({.kind = 3, .bits = 16, .flags = kFromTop | 8}).Put8({7, 9, 200, 255})),
              ElementsAre((Color{7, 7, 7, 9}), (Color{200, 200, 200, 255})));
}

TEST(DecodeTgaTest, ColorMapsOfEveryDepthBeginAtAnyIndex) {
  const auto mapped = [](uint32_t map_bits) {
    return Tga({.kind = 1, .bits = 8, .map_first = 5, .map_count = 2, .map_bits = map_bits});
  };
  EXPECT_THAT(Texels(mapped(24).Put8({0, 0, 255, 255, 0, 0, 6, 5})), ElementsAre(kBlue, kRed));
  EXPECT_THAT(Texels(mapped(16).Put16({0x7c00, 0x001f}).Put8({6, 5})), ElementsAre(kBlue, kRed));
  EXPECT_THAT(Texels(mapped(32).Put8({0, 0, 255, 40, 255, 0, 0, 255, 6, 5})),
              ElementsAre(kBlue, (Color{255, 0, 0, 40})));
  EXPECT_THAT(Texels(Tga({.kind = 1, .bits = 16, .map_count = 2, .map_bits = 24})
                         .Put8({0, 0, 255, 255, 0, 0})
                         .Put16({1, 0})),
              ElementsAre(kBlue, kRed));
}

TEST(DecodeTgaTest, AColorOutsideTheMapIsAnError) {
  const auto error = [](uint32_t index) {
    return ErrorOf("tga",
                   Tga({.kind = 1, .bits = 8, .map_first = 5, .map_count = 2, .map_bits = 24})
                       .Put8({0, 0, 255, 255, 0, 0, 5, index})
                       .bytes());
  };
  EXPECT_EQ(error(7), "tga: the file is corrupt: a texel has colour 7, and the map holds 5 to 6");
  EXPECT_EQ(error(4), "tga: the file is corrupt: a texel has colour 4, and the map holds 5 to 6");
}

TEST(DecodeTgaTest, AMapBesideTrueColorIsPassedOver) {
  EXPECT_THAT(
      Texels(
          Tga({.kind = 2, .map_count = 1, .map_bits = 24}).Put8({1, 2, 3, 0, 0, 255, 255, 0, 0})),
      ElementsAre(kRed, kBlue));
}

TEST(DecodeTgaTest, RunsAndLiteralsMayCrossRows) {
  const FileBytes file = Tga({.kind = 10, .width = 3, .height = 2})
                             .Put8({0x83, 0, 0, 255})              // red four times
                             .Put8({0x01, 255, 0, 0, 0, 255, 0});  // blue, green
  EXPECT_THAT(Texels(file), ElementsAre(kRed, kRed, kRed, kRed, kBlue, kGreen));
  EXPECT_THAT(Texels(Tga({.kind = 11, .bits = 8}).Put8({0x81, 3})),
              ElementsAre((Color{3, 3, 3, 255}), (Color{3, 3, 3, 255})));
  EXPECT_THAT(
      Texels(
          Tga({.kind = 9, .bits = 8, .map_count = 1, .map_bits = 24}).Put8({255, 0, 0, 0x81, 0})),
      ElementsAre(kBlue, kBlue));
}

TEST(DecodeTgaTest, ARunPastTheEndIsAnError) {
  EXPECT_EQ(ErrorOf("tga", Tga({.kind = 10}).Put8({0x82, 0, 0, 255}).bytes()),
            "tga: the file is corrupt: a run goes past the end of the image");
}

TEST(DecodeTgaTest, KindsThatAreNoneAreNamed) {
  const std::string prefix = "tga: the file is corrupt or of an unsupported kind: ";
  const auto error = [](const TgaOptions& options) {
    return ErrorOf("tga", Tga(options).Put8({0, 0, 0, 0, 0, 0, 0, 0}).bytes());
  };
  EXPECT_EQ(error({.kind = 0}), prefix + "image type 0");
  EXPECT_EQ(error({.bits = 12}), prefix + "bits of a texel: 12");
  EXPECT_EQ(error({.flags = kFromTop | 0x40}), prefix + "interleaving 1");
  EXPECT_EQ(error({.flags = 0x80}), prefix + "interleaving 2");
  EXPECT_EQ(error({.kind = 3, .bits = 24}), prefix + "bits of a grey texel: 24");
  EXPECT_EQ(error({.kind = 1, .bits = 8}), "tga: the file is corrupt: it has no colour map");
}

TEST(DecodeTgaTest, AHugeImageInAFewBytesIsTruncatedBeforeAnythingIsAllocated) {
  EXPECT_EQ(
      ErrorOf("tga",
              Tga({.kind = 10, .width = 16000, .height = 16000}).Put8({0xff, 0, 0, 0}).bytes()),
      "tga: the file is truncated: it should have at least 8000020 bytes and has 24");
}

}  // namespace
}  // namespace galley::worker::texture
