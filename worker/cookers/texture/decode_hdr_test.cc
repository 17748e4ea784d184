#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/cookers/texture/testing/decoding.h"

namespace galley::worker::texture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FileBytes Hdr(std::string_view resolution) {
  return FileBytes()
      .Text("#?RADIANCE\nEXPOSURE=2.0\nFORMAT=32-bit_rle_rgbe\n\n")
      .Text(resolution)
      .Text("\n");
}

// The red channel, texel by texel.
std::vector<float> Reds(const FileBytes& file) {
  const auto decoded = Decode("hdr", file.bytes(), {});
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  std::vector<float> reds;
  if (!decoded.ok()) return reds;
  const auto& texels = std::get<std::vector<float>>(decoded->image.texels);
  for (size_t i = 0; i < texels.size(); i += 4) reds.push_back(texels[i]);
  return reds;
}

TEST(DecodeHdrTest, LightAboveOneIsKeptAndExposureIsNotApplied) {
  const auto decoded = Decode("hdr", MakeHdr(Constant(3, 3, {128, 64, 192}), 16.0), {});
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const auto& texels = std::get<std::vector<float>>(decoded->image.texels);
  EXPECT_EQ((std::vector<float>(texels.begin(), texels.begin() + 4)),
            (std::vector<float>{8.0f, 4.0f, 12.0f, 1.0f}));
  EXPECT_FALSE(decoded->image.has_alpha);
  EXPECT_THAT(Reds(Hdr("-Y 1 +X 2").Put8({128, 0, 0, 129, 128, 0, 0, 130})),
              ElementsAre(1.0f, 2.0f));
}

TEST(DecodeHdrTest, ExponentsReachFromDarkToDazzling) {
  EXPECT_THAT(Reds(Hdr("-Y 1 +X 3").Put8({255, 0, 0, 0, 1, 0, 0, 1, 255, 0, 0, 255})),
              ElementsAre(0.0f, 0x1p-135f, 255 * 0x1p119f));
}

TEST(DecodeHdrTest, RowsMayComeFromEitherEnd) {
  const auto decoded = [](std::string_view resolution) {
    return Reds(
        Hdr(resolution).Put8({128, 0, 0, 129, 128, 0, 0, 130, 128, 0, 0, 131, 128, 0, 0, 132}));
  };
  EXPECT_THAT(decoded("-Y 2 +X 2"), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(decoded("+Y 2 +X 2"), ElementsAre(4, 8, 1, 2));
  EXPECT_THAT(decoded("-Y 2 -X 2"), ElementsAre(2, 1, 8, 4));
  EXPECT_THAT(decoded("+Y 2 -X 2"), ElementsAre(8, 4, 2, 1));
  EXPECT_THAT(
      ErrorOf("hdr", Hdr("+X 2 -Y 2").bytes()),
      HasSubstr("expected a line such as \"-Y 512 +X 1024\" after the header, not \"+X 2 -Y "
                "2\"; pictures that lie on their side"));
}

// A row of eight texels: red in two runs, green and blue in a run each, exponents in a run and a
// literal.
FileBytes RunRow() {
  return FileBytes().Put8({2, 2, 0, 8, 131, 128, 133, 64, 136, 0, 136, 0, 134, 129, 2, 130, 129});
}

TEST(DecodeHdrTest, RunLengthsChannelByChannel) {
  EXPECT_THAT(Reds(Hdr("-Y 1 +X 8").Text(RunRow().bytes())),
              ElementsAre(1, 1, 1, 0.5, 0.5, 0.5, 1, 0.5));
}

TEST(DecodeHdrTest, RunLengthsOfTheOldKindRepeatTheTexelBefore) {
  EXPECT_THAT(Reds(Hdr("-Y 1 +X 5").Put8({128, 0, 0, 129, 1, 1, 1, 3, 128, 0, 0, 130})),
              ElementsAre(1, 1, 1, 1, 2));
  // Two repeats in a row: the second counts in 256s.
  const std::vector<float> reds =
      Reds(Hdr("-Y 1 +X 300").Put8({128, 0, 0, 129, 1, 1, 1, 43, 1, 1, 1, 1}));
  EXPECT_EQ(reds, std::vector<float>(300, 1.0f));
}

TEST(DecodeHdrTest, CutOffAnywhereIsAnErrorNotAHang) {
  const std::string file = Hdr("-Y 2 +X 8").Text(RunRow().bytes()).Text(RunRow().bytes()).bytes();
  EXPECT_EQ(ErrorOf("hdr", file), "decoded");
  for (size_t size = 1; size < file.size(); ++size)
    EXPECT_NE(ErrorOf("hdr", std::string_view(file).substr(0, size)), "decoded") << size;
  EXPECT_EQ(ErrorOf("hdr", std::string_view(file).substr(0, file.size() - 1)),
            "hdr: the file is truncated");
}

TEST(DecodeHdrTest, DamageIsNamed) {
  EXPECT_EQ(ErrorOf("hdr", Hdr("-Y 1 +X 8").Put8({2, 2, 0, 8, 137, 0}).bytes()),
            "hdr: the file is corrupt: a run goes past the end of row 0");
  EXPECT_EQ(ErrorOf("hdr", Hdr("-Y 1 +X 8").Put8({2, 2, 0, 9, 137, 0}).bytes()),
            "hdr: the file is corrupt: row 0 has a length of its own");
  EXPECT_EQ(ErrorOf("hdr", Hdr("-Y 1 +X 5").Put8({128, 0, 0, 129, 1, 1, 1, 5}).bytes()),
            "hdr: the file is corrupt: a run goes past the end of row 0");
  EXPECT_EQ(ErrorOf("hdr", "#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\nabcd"),
            "hdr: expected texels of 32-bit_rle_rgbe, not \"32-bit_rle_xyze\"");
  EXPECT_EQ(ErrorOf("hdr", "#?RADIANCE\nFORMAT=\x1b[2J\xff\xc3\xa9\n\n-Y 1 +X 1\nabcd"),
            "hdr: expected texels of 32-bit_rle_rgbe, not \"\\x1b[2J\\xff\xc3\xa9\"");
  EXPECT_THAT(ErrorOf("hdr", Hdr("+X 1 \x1b\x80").bytes()),
              testing::HasSubstr("not \"+X 1 \\x1b\\x80\"; pictures that lie on their side"));
  EXPECT_EQ(ErrorOf("hdr", Hdr("-Y 70000 +X 1").bytes()),
            "hdr: the image is 1 x 70000; each side must be from 1 to 65535 texels");
}

}  // namespace
}  // namespace galley::worker::texture
