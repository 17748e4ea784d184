#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/cookers/texture/testing/decoding.h"

namespace galley::worker::texture {
namespace {

using ::testing::ElementsAre;

struct BmpOptions {
  uint32_t width = 2;
  uint32_t height = 1;  // 0u - n: n rows, the top row first
  uint32_t bits = 24;
  uint32_t compression = 0;
  uint32_t header_bytes = 40;
  uint32_t colors_used = 0;
  // The bytes between header and image: masks, palette.
  FileBytes between = {};
};

FileBytes Bmp(const BmpOptions& options) {
  FileBytes file;
  const uint32_t between = static_cast<uint32_t>(options.between.bytes().size());
  const uint32_t fields = options.header_bytes == 12 ? 12 : 40;
  const bool has_masks_inside = options.header_bytes > 40;
  const uint32_t offset = 14 + (has_masks_inside ? std::max(options.header_bytes, fields + between)
                                                 : options.header_bytes + between);
  file.Text("BM").Put32({0, 0, offset, options.header_bytes});
  if (fields == 12) {
    file.Put16({options.width, options.height, 1, options.bits});
  } else {
    file.Put32({options.width, options.height}).Put16({1, options.bits});
    file.Put32({options.compression, 0, 0, 0, options.colors_used, 0});
  }
  file.Text(options.between.bytes());
  file.Text(std::string(offset - file.bytes().size(), '\0'));
  return file;
}

constexpr Color kRed = {255, 0, 0, 255};
constexpr Color kBlue = {0, 0, 255, 255};
constexpr Color kGreen = {0, 255, 0, 255};

std::vector<Color> Texels(const FileBytes& file) {
  return DecodedBitmap("bmp", file.bytes()).texels;
}
FileBytes RedAndBlue() { return FileBytes().Put8({0, 0, 255, 0, 255, 0, 0, 0}); }

TEST(DecodeBmpTest, RowsBeginAtTheBottomOrWithANegativeHeightAtTheTop) {
  const auto decoded = [](uint32_t height) {
    return Texels(Bmp({.width = 1, .height = height}).Put8({0, 0, 255, 0, 255, 0, 0, 0}));
  };
  EXPECT_THAT(decoded(2), ElementsAre(kBlue, kRed));
  EXPECT_THAT(decoded(0u - 2), ElementsAre(kRed, kBlue));
}

TEST(DecodeBmpTest, PalettesOfOneTwoFourAndEightBits) {
  const auto decoded = [](uint32_t bits, std::initializer_list<uint32_t> row) {
    return Texels(
        Bmp({.width = 3, .bits = bits, .colors_used = 2, .between = RedAndBlue()}).Put8(row));
  };
  EXPECT_THAT(decoded(1, {0x40, 0, 0, 0}), ElementsAre(kRed, kBlue, kRed));
  EXPECT_THAT(decoded(2, {0x10, 0, 0, 0}), ElementsAre(kRed, kBlue, kRed));
  EXPECT_THAT(decoded(4, {0x01, 0x00, 0, 0}), ElementsAre(kRed, kBlue, kRed));
  EXPECT_THAT(decoded(8, {0, 1, 0, 0}), ElementsAre(kRed, kBlue, kRed));
}

TEST(DecodeBmpTest, TheOldestHeaderHasEntriesOfThreeBytes) {
  EXPECT_THAT(
      Texels(
          Bmp({.bits = 8, .header_bytes = 12, .between = FileBytes().Put8({0, 0, 255, 255, 0, 0})})
              .Put8({1, 0, 0, 0})),
      ElementsAre(kBlue, kRed));
}

TEST(DecodeBmpTest, AColorOutsideThePaletteIsAnError) {
  EXPECT_EQ(
      ErrorOf(
          "bmp",
          Bmp({.bits = 8, .colors_used = 2, .between = RedAndBlue()}).Put8({1, 2, 0, 0}).bytes()),
      "bmp: the file is corrupt: a texel has colour 2, and the palette holds 2");
}

TEST(DecodeBmpTest, SixteenBitsAreFiveAChannelUnlessMasksSayOtherwise) {
  EXPECT_THAT(Texels(Bmp({.bits = 16}).Put16({0x7c00, 0x001f})), ElementsAre(kRed, kBlue));
  EXPECT_THAT(Texels(Bmp({.bits = 16,
                          .compression = 3,
                          .between = FileBytes().Put32({0xf800, 0x07e0, 0x001f})})
                         .Put16({0xf800, 0x07e0})),
              ElementsAre(kRed, kGreen));
}

TEST(DecodeBmpTest, MasksMayLieInTheHeaderAndHaveAlpha) {
  for (const uint32_t header_bytes : {56u, 108u, 124u}) {
    const FileBytes file =
        Bmp({.bits = 32,
             .compression = 3,
             .header_bytes = header_bytes,
             .between = FileBytes().Put32({0xff, 0xff00, 0xff0000, 0xff000000})});
    EXPECT_THAT(Texels(FileBytes(file).Put32({0x800000ff, 0x00ff0000})),
                ElementsAre((Color{255, 0, 0, 128}), (Color{0, 0, 255, 0})))
        << header_bytes;
  }
  EXPECT_THAT(Texels(Bmp({.bits = 32,
                          .compression = 6,
                          .between = FileBytes().Put32({0xff, 0xff00, 0xff0000, 0xff000000})})
                         .Put32({0x800000ff, 0xffff0000})),
              ElementsAre((Color{255, 0, 0, 128}), kBlue));
}

TEST(DecodeBmpTest, MasksOfThreeChannelsAreOpaque) {
  EXPECT_THAT(Texels(Bmp({.bits = 32,
                          .compression = 3,
                          .between = FileBytes().Put32({0x3ff00000, 0xffc00, 0x3ff})})
                         .Put32({0x3ff00000, 0x00000201})),
              ElementsAre(kRed, (Color{0, 0, 128, 255})));
}

TEST(DecodeBmpTest, TheFourthByteIsAlphaUnlessItIsClearEverywhere) {
  EXPECT_THAT(Texels(Bmp({.bits = 32}).Put32({0x00ff0000, 0x000000ff})), ElementsAre(kRed, kBlue));
  EXPECT_THAT(Texels(Bmp({.bits = 32}).Put32({0x00ff0000, 0x800000ff})),
              ElementsAre((Color{255, 0, 0, 0}), (Color{0, 0, 255, 128})));
}

TEST(DecodeBmpTest, RunLengthsOfEightBits) {
  const FileBytes file =
      Bmp({.width = 5, .height = 3, .bits = 8, .compression = 1, .between = RedAndBlue()})
          .Put8({2, 1, 0, 3, 1, 0, 1, 0})  // blue twice; listed: blue, red, blue, and padding
          .Put8({0, 0, 0, 2, 3, 1})        // the row's end; three to the right, one up
          .Put8({2, 1, 0, 1});             // blue twice; the end
  constexpr Color R = kRed;
  constexpr Color B = kBlue;
  EXPECT_THAT(Texels(file), ElementsAre(R, R, R, B, B, R, R, R, R, R, B, B, B, R, B));
}

TEST(DecodeBmpTest, RunLengthsOfFourBits) {
  const FileBytes file =
      Bmp({.width = 7, .bits = 4, .compression = 2, .between = RedAndBlue()})
          .Put8({3, 0x01, 0, 3, 0x11, 0x00, 1, 0x10, 0, 1});  // red blue red; blue blue red; blue
  constexpr Color R = kRed;
  constexpr Color B = kBlue;
  EXPECT_THAT(Texels(file), ElementsAre(R, B, R, B, B, R, B));
}

TEST(DecodeBmpTest, RunsThatLeaveTheImageOrNeverEndAreErrors) {
  const auto error = [](std::initializer_list<uint32_t> runs) {
    return ErrorOf("bmp",
                   Bmp({.bits = 8, .compression = 1, .between = RedAndBlue()}).Put8(runs).bytes());
  };
  EXPECT_EQ(error({3, 0, 0, 1}), "bmp: the file is corrupt: a run leaves the image at row 0");
  EXPECT_EQ(error({0, 0, 1, 0}), "bmp: the file is corrupt: a run leaves the image at row 1");
  EXPECT_EQ(error({0, 2, 0, 9, 0, 1}), "bmp: the file is corrupt: a run leaves the image at row 9");
  EXPECT_EQ(error({1, 0}), "bmp: the file is truncated");
  EXPECT_EQ(error({2, 0, 0, 4}), "bmp: the file is corrupt: a run leaves the image at row 0");
  EXPECT_EQ(error({2, 7, 0, 1}),
            "bmp: the file is corrupt: a texel has colour 7, and the palette holds 2");
}

TEST(DecodeBmpTest, TheEndOfTheImageMayBeLeftOutWhenAllRowsAreThere) {
  const auto decoded = [](std::initializer_list<uint32_t> runs) {
    return Texels(
        Bmp({.width = 2, .height = 2, .bits = 8, .compression = 1, .between = RedAndBlue()})
            .Put8(runs));
  };
  EXPECT_THAT(decoded({2, 1, 0, 0, 2, 1}), ElementsAre(kBlue, kBlue, kBlue, kBlue));
  EXPECT_THAT(decoded({2, 1, 0, 0, 2, 1, 0}), ElementsAre(kBlue, kBlue, kBlue, kBlue));
  EXPECT_THAT(decoded({2, 1, 0, 0, 1, 1, 0, 0}), ElementsAre(kBlue, kRed, kBlue, kBlue));
}

TEST(DecodeBmpTest, RunLengthsWithAnEmptyPaletteAreAnError) {
  EXPECT_EQ(ErrorOf("bmp", Bmp({.bits = 8, .compression = 1}).Put8({0, 1}).bytes()),
            "bmp: the file is corrupt: a texel has colour 0, and the palette holds 0");
}

TEST(DecodeBmpTest, RunLengthsWithAPaletteThatCannotBeAreAnError) {
  const auto error = [](uint32_t bits, uint32_t colors_used) {
    return ErrorOf("bmp", Bmp({.bits = bits,
                               .compression = bits == 8 ? 1u : 2u,
                               .colors_used = colors_used,
                               .between = RedAndBlue()})
                              .Put8({2, 0, 0, 1})
                              .bytes());
  };
  EXPECT_EQ(error(8, 3),
            "bmp: the file is corrupt: its palette has 3 colours, of which its texels can name "
            "256, and the file has room for 2");
  EXPECT_EQ(error(4, 0xffffffff),
            "bmp: the file is corrupt: its palette has 4294967295 colours, of which its texels can "
            "name 16, and the file has room for 2");
  EXPECT_EQ(Texels(Bmp({.bits = 8, .compression = 1, .colors_used = 2, .between = RedAndBlue()})
                       .Put8({2, 1, 0, 1})),
            (std::vector<Color>{kBlue, kBlue}));
}

TEST(DecodeBmpTest, KindsThatAreNoneAreNamed) {
  const std::string prefix = "bmp: the file is corrupt or of an unsupported kind: ";
  const auto error = [](const BmpOptions& options) {
    return ErrorOf("bmp", Bmp(options).Put32({0, 0, 0, 0}).bytes());
  };
  EXPECT_EQ(error({.header_bytes = 64}), prefix + "bytes of the header: 64");
  EXPECT_EQ(error({.bits = 7}), prefix + "bits of a texel: 7");
  EXPECT_EQ(error({.compression = 4}), prefix + "compression 4");
  EXPECT_EQ(error({.bits = 24, .compression = 3, .between = FileBytes().Put32({1, 2, 4})}),
            prefix + "masks with bits of a texel: 24");
  EXPECT_EQ(error({.width = 0x80000001}),
            "bmp: the file is corrupt: its width is -2147483647 and its height 1");
  EXPECT_EQ(error({.height = 0x80000000}),
            "bmp: the file is corrupt: its width is 2 and its height -2147483648");
  EXPECT_EQ(error({.bits = 4, .compression = 1}), prefix + "run lengths with bits of a texel: 4");
  EXPECT_EQ(
      error({.height = 0u - 1, .bits = 8, .compression = 1}),
      "bmp: the file is corrupt: run lengths begin at the bottom row, and its height is negative");
  EXPECT_EQ(error({.bits = 16, .compression = 3, .between = FileBytes().Put32({0, 0, 0})}),
            "bmp: the file is corrupt: its masks are empty");
}

}  // namespace
}  // namespace galley::worker::texture
