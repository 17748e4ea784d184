#include "worker/cookers/texture/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/texture/png_writer.h"
#include "worker/cookers/texture/testing/block_decoder.h"
#include "worker/cookers/texture/testing/decoding.h"
#include "worker/cookers/texture/testing/sample_images.h"
#include "worker/cookers/texture/texture_cooker.h"

namespace galley::worker::texture {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Cook(const std::string& source, const json& settings,
                 const std::string& package = "/Game/a.png") {
  const std::unique_ptr<Cooker> cooker = CreateTextureCooker();
  FakeCookContext context(cooker->description(), package, source, settings);
  context.SetPlatform("texture", "bc");
  context.AddFile("/Game/b.png", MakePng(Constant(21, 10, {9, 8, 7, 255})));
  const absl::Status status = LoadAndCook(*cooker, context);
  EXPECT_TRUE(status.ok()) << status;
  return status.ok() ? context.output(".ktx2") : std::string();
}

Bitmap Preview(std::string_view ktx2, const PreviewOptions& options = {}) {
  const absl::StatusOr<Image> image = DecodePreview(ktx2, options);
  EXPECT_TRUE(image.ok()) << image.status();
  if (!image.ok()) return {};
  const absl::StatusOr<std::string> png = WritePng(*image);
  EXPECT_TRUE(png.ok()) << png.status();
  return png.ok() ? DecodedBitmap("png", *png) : Bitmap{};
}

std::string ErrorOfPreview(std::string_view ktx2, const PreviewOptions& options = {}) {
  const absl::StatusOr<Image> image = DecodePreview(ktx2, options);
  if (image.ok()) return "decoded";
  return absl::IsInvalidArgument(image.status()) ? MessageOf(image.status())
                                                 : image.status().ToString();
}

TEST(PreviewTest, ColorsComeCloseToTheSourceInEveryFormat) {
  const Bitmap bitmap = Gradient(21, 10, true);
  const std::string png = MakePng(bitmap);
  EXPECT_EQ(Preview(Cook(png, {{"format", "rgba8"}})).texels, bitmap.texels);
  EXPECT_EQ(Preview(Cook(png, {{"format", "rgba8"}, {"zstd", 3}})).texels, bitmap.texels);
  EXPECT_GT(Psnr(Preview(Cook(png, {{"format", "bc3"}})), bitmap, "rgba"), 31.0);
  EXPECT_GT(Psnr(Preview(Cook(png, {{"format", "astc"}, {"block", "4x4"}})), bitmap, "a"), 34.0);
  EXPECT_GT(Psnr(Preview(Cook(png, {{"format", "rgba16f"}})), bitmap, "rgba"), 50.0);
  EXPECT_GT(
      Psnr(Preview(Cook(MakePng(Gradient(21, 10)), {{"format", "bc1"}})), Gradient(21, 10), "rgba"),
      31.0);
}

// squish decodes for the preview, our own reader of the specification for the comparison.
TEST(PreviewTest, BlocksAreDecodedAsTheSpecificationSays) {
  const Bitmap bitmap = Gradient(21, 10, true);
  for (const char* format : {"bc1", "bc3", "bc4", "bc5"}) {
    const std::string cooked = Cook(MakePng(bitmap), {{"format", format}, {"usage", "mask"}});
    const Ktx2File file = ReadKtx2(cooked);
    const Bitmap expected = DecodeBlocks(file.levels[1].bytes, 10, 5, file.vk_format);
    const std::string_view channels = std::string_view(format) == "bc4"   ? "r"
                                      : std::string_view(format) == "bc5" ? "rg"
                                                                          : "rgb";
    EXPECT_GT(Psnr(Preview(cooked, {.level = 1}), expected, channels), 48.0) << format;
  }
}

TEST(PreviewTest, MasksAreGreyAndNormalsHaveTheirThirdAxis) {
  for (const Color& color : Preview(Cook(MakePng(Gradient(8, 8)), {{"usage", "mask"}})).texels)
    EXPECT_EQ(color, (Color{color.red, color.red, color.red, 255}));
  const Bitmap waves = Waves(32, 32);
  EXPECT_GT(Psnr(Preview(Cook(MakePng(waves), {{"usage", "normal"}})), waves, "rgb"), 36.0);
  const json astc = {{"usage", "normal"}, {"format", "astc"}, {"block", "4x4"}};
  EXPECT_GT(Psnr(Preview(Cook(MakePng(waves), astc)), waves, "rgb"), 34.0);
}

TEST(PreviewTest, BrightLightIsBroughtBelowWhiteInOrder) {
  const Bitmap ramp = MakeBitmap(8, 1, [](uint32_t x, uint32_t) {
    const auto grey = static_cast<uint8_t>(128 + x * 16);
    return Color{grey, grey, grey, 255};
  });
  const Bitmap preview = Preview(Cook(MakeHdr(ramp, 16.0), json::object(), "/Game/a.hdr"));
  for (size_t x = 1; x < 8; ++x) EXPECT_GT(preview.texels[x].red, preview.texels[x - 1].red) << x;
  EXPECT_EQ(preview.texels[7].red, 255);
}

TEST(PreviewTest, EachImageOfEachLevelCanBeAskedFor) {
  const std::string array =
      Cook(MakePng(Gradient(21, 10)), {{"format", "rgba8"}, {"layers", {"b.png"}}, {"zstd", 1}});
  EXPECT_EQ(Preview(array, {.image = 0}).texels, Gradient(21, 10).texels);
  EXPECT_EQ(Preview(array, {.level = 1, .image = 1}).texels,
            Constant(10, 5, {9, 8, 7, 255}).texels);
  EXPECT_EQ(ErrorOfPreview(array, {.level = 5}),
            "there is no level 5, image 0: the texture has 5 levels and 2 images");
  EXPECT_THAT(ErrorOfPreview(array, {.image = 2}), HasSubstr("there is no level 0, image 2"));
}

TEST(PreviewTest, CutOffAnywhereIsAnError) {
  for (const int zstd : {0, 3}) {
    const std::string file = Cook(MakePng(Gradient(21, 10)), {{"format", "bc1"}, {"zstd", zstd}});
    for (size_t size = 0; size < file.size(); ++size)
      EXPECT_NE(ErrorOfPreview(std::string_view(file).substr(0, size)), "decoded") << size;
  }
}

TEST(PreviewTest, ContradictionsAreNamed) {
  const std::string file = Cook(MakePng(Gradient(21, 10)), {{"format", "bc1"}});
  const auto with = [&](size_t offset, char value) {
    std::string changed = file;
    changed[offset] = value;
    return ErrorOfPreview(changed);
  };
  const std::string prefix = "the KTX2 file is corrupt or of an unsupported kind: ";
  EXPECT_EQ(ErrorOfPreview("DDS "), "this is no KTX2 file");
  EXPECT_EQ(with(12, 1), prefix + "VkFormat 1");
  EXPECT_EQ(with(28, 2), prefix + "depth 2");
  EXPECT_EQ(with(36, 5), prefix + "faces: 5");
  EXPECT_EQ(with(40, 6), prefix + "levels: 6");
  EXPECT_EQ(with(44, 1), prefix + "supercompression scheme 1");
  EXPECT_EQ(with(20, 99), "the KTX2 file is corrupt: level 0 should have 600 bytes and has 144");
  EXPECT_EQ(with(44, 2), "the KTX2 file is corrupt: level 0 is not 144 bytes of zstd");
  EXPECT_THAT(with(22, 1), HasSubstr("each side must be from 1 to 65535 texels"));
}

}  // namespace
}  // namespace galley::worker::texture
