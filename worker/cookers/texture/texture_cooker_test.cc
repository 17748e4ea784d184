#include "worker/cookers/texture/texture_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/output_names.h"
#include "fmt/format.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/source_looker.h"
#include "worker/cookers/texture/testing/block_decoder.h"
#include "worker/cookers/texture/testing/sample_images.h"
#include "worker/cookers/texture/texture_format.h"

namespace galley::worker::texture {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Cooked {
  absl::Status status;
  std::string file;
  std::vector<std::string> looks;
  std::vector<std::string> warnings;
  std::map<std::string, std::variant<std::string, double, bool>> tags;
};

class TextureCookerTest : public testing::Test {
 protected:
  Cooked Cook(const std::string& source, const json& settings = json::object(),
              const std::string& family = "bc", const std::string& package = "/Game/a.png") {
    FakeCookContext context(cooker_->description(), package, source, settings);
    for (const auto& [path, bytes] : files_) context.AddFile(path, bytes);
    if (!family.empty()) context.SetPlatform("texture", family);
    Cooked cooked{.status = LoadAndCook(*cooker_, context),
                  .file = {},
                  .looks = {},
                  .warnings = {},
                  .tags = {}};
    if (cooked.status.ok()) cooked.file = context.output(".ktx2");
    cooked.looks = context.looks();
    cooked.warnings = context.warnings();
    cooked.tags = context.tags();
    return cooked;
  }
  Ktx2File CookAndRead(const std::string& source, const json& settings = json::object(),
                       const std::string& family = "bc",
                       const std::string& package = "/Game/a.png") {
    const Cooked cooked = Cook(source, settings, family, package);
    EXPECT_TRUE(cooked.status.ok()) << cooked.status;
    return cooked.status.ok() ? ReadKtx2(cooked.file) : Ktx2File{};
  }
  std::string ErrorOf(const std::string& source, const json& settings,
                      const std::string& family = "bc",
                      const std::string& package = "/Game/a.png") {
    const absl::Status status = Cook(source, settings, family, package).status;
    return absl::IsInvalidArgument(status) ? MessageOf(status) : status.ToString();
  }

  std::unique_ptr<Cooker> cooker_ = CreateTextureCooker();
  std::map<std::string, std::string> files_;  // files beside the source
};

TEST_F(TextureCookerTest, TheFamilyBcPicksByAlphaAndUsage) {
  const std::string opaque = MakePng(Gradient(8, 8));
  EXPECT_EQ(CookAndRead(opaque).vk_format, 132u);                               // BC1_RGB_SRGB
  EXPECT_EQ(CookAndRead(opaque, {{"color_space", "linear"}}).vk_format, 131u);  // BC1_RGB_UNORM
  EXPECT_EQ(CookAndRead(MakePng(Gradient(8, 8, true))).vk_format, 138u);        // BC3_SRGB
  EXPECT_EQ(CookAndRead(opaque, {{"usage", "normal"}}).vk_format, 141u);        // BC5_UNORM
  EXPECT_EQ(CookAndRead(opaque, {{"usage", "mask"}}).vk_format, 139u);          // BC4_UNORM
}

TEST_F(TextureCookerTest, ANormalMapWhosePixelsAreNoneIsAWarning) {
  const std::string picture = MakePng(Gradient(8, 8));
  const json normal = {{"usage", "normal"}};
  EXPECT_THAT(Cook(picture, normal).warnings,
              ElementsAre(HasSubstr("the pixels are no normal map")));
  EXPECT_THAT(Cook(picture).warnings, IsEmpty());
  files_["/Game/b.png"] = picture;
  EXPECT_THAT(Cook(picture, {{"usage", "normal"}, {"layers", {"b.png"}}}).warnings,
              ElementsAre(HasSubstr("usage is"), testing::StartsWith("b.png: usage is")));
}

TEST_F(TextureCookerTest, ALookSaysWhatAnImageIs) {
  FakeCookContext context(cooker_->description(), "/Game/a.png", MakePng(Gradient(8, 4, true)));
  FileLook look;
  ASSERT_TRUE(dynamic_cast<SourceLooker&>(*cooker_).Look(context, LookDepth::kWhole, look).ok());
  EXPECT_EQ(look.kind, "image, 8 x 4, with alpha");
  EXPECT_EQ(look.pixels, "color");
  EXPECT_FALSE(std::get<bool>(context.tags().at("flat")));
  EXPECT_EQ(std::get<double>(context.tags().at("bits")), 8);
  FakeCookContext broken(cooker_->description(), "/Game/a.png", "<svg>");
  EXPECT_FALSE(dynamic_cast<SourceLooker&>(*cooker_).Look(broken, LookDepth::kWhole, look).ok());
}

// An outline reads the header alone: the file may end behind it.
TEST_F(TextureCookerTest, AnOutlineOfAnImageIsThatOfItsHeader) {
  const auto outline = [&](const std::string& package, const std::string& bytes) {
    FakeCookContext context(cooker_->description(), package, bytes);
    FileLook look;
    const absl::Status status =
        dynamic_cast<SourceLooker&>(*cooker_).Look(context, LookDepth::kOutline, look);
    if (!status.ok()) return look.flaw.empty() ? MessageOf(status) : look.flaw;
    const auto is = [&](const char* tag) { return std::get<bool>(context.tags().at(tag)); };
    return fmt::format("{}{}{}{}", look.kind, is("alpha") ? ", alpha" : "",
                       is("grey") ? ", grey" : "", is("palette") ? ", palette" : "");
  };
  const std::string png = MakePng(Gradient(300, 200, true));
  const std::string head = png.substr(0, 64);
  ASSERT_LT(head.size(), png.size());
  EXPECT_EQ(outline("/Game/a.png", head), "image, 300 x 200, with alpha, alpha");
  EXPECT_EQ(outline("/Game/a.png", MakePng(Gradient(8, 8))), "image, 8 x 8, with alpha, alpha");
  EXPECT_EQ(outline("/Game/a.hdr", MakeHdr(Gradient(8, 4), 4.0).substr(0, 60)), "image, 8 x 4");
  const std::string tga("\0\0\x03\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x08\0", 18);
  EXPECT_EQ(outline("/Game/a.tga", tga), "image, 2 x 3, grey");
  EXPECT_EQ(outline("/Game/a.png", "\xff\xd8\xff\xe0"), "a JPEG under the name .png");
  EXPECT_EQ(outline("/Game/a.jpeg", head), "a PNG under the name .jpeg");
  EXPECT_EQ(outline("/Game/a.bmp", "\x76\x2f\x31\x01"), "an EXR under the name .bmp");
  EXPECT_EQ(outline("/Game/a.tga", "no picture, whatever it is"), "not what .tga files begin with");
  EXPECT_EQ(outline("/Game/a.png", ""), "empty");
  EXPECT_THAT(outline("/Game/a.png", head.substr(0, 20)), HasSubstr("truncated"));
}

TEST_F(TextureCookerTest, OtherFamiliesAndHdrPickTheirFormats) {
  const std::string png = MakePng(Gradient(8, 8));
  EXPECT_EQ(CookAndRead(png, {}, "rgba8").vk_format, 43u);  // R8G8B8A8_SRGB
  EXPECT_EQ(CookAndRead(png, {}, "astc").vk_format, 166u);  // ASTC_6x6_SRGB
  EXPECT_EQ(CookAndRead(png, {{"usage", "mask"}, {"block", "12x10"}}, "astc").vk_format,
            181u);  // ASTC_12x10_UNORM
  const std::string hdr = MakeHdr(Gradient(8, 8), 4.0);
  for (const char* family : {"bc", "astc", "rgba8"})
    EXPECT_EQ(CookAndRead(hdr, {}, family, "/Game/a.hdr").vk_format, 97u);
}

TEST_F(TextureCookerTest, ThePlatformIsLookedAtOnlyWhenItDecides) {
  const std::string png = MakePng(Gradient(8, 8));
  EXPECT_THAT(Cook(png).looks, ElementsAre("platform(texture)"));
  EXPECT_THAT(Cook(png, {{"format", "rgba8"}}).looks, IsEmpty());
  EXPECT_THAT(Cook(MakeHdr(Gradient(8, 8), 4.0), {}, "bc", "/Game/a.hdr").looks, IsEmpty());
}

TEST_F(TextureCookerTest, ASizeThatIsNoMultipleOfTheBlocksIsToldOfOnceWithWhatItCosts) {
  EXPECT_THAT(Cook(MakePng(Gradient(70, 66))).warnings,
              ElementsAre("the texture's size is no multiple of its format's blocks: 70 x 66 "
                          "texels in blocks of 4 x 4 take the room of 72 x 68, 6.0 % more; "
                          "Direct3D 11 and WebGL take no such texture"));
  EXPECT_THAT(Cook(MakePng(Gradient(100, 100)), {{"block", "12x12"}}, "astc").warnings,
              ElementsAre("the texture's size is no multiple of its format's blocks: 100 x 100 "
                          "texels in blocks of 12 x 12 take the room of 108 x 108, 16.6 % more"));
  EXPECT_THAT(Cook(MakePng(Gradient(72, 68))).warnings, IsEmpty());
  EXPECT_THAT(Cook(MakePng(Gradient(70, 66)), {}, "rgba8").warnings, IsEmpty());
  // A small loss gives no warning.
  EXPECT_THAT(Cook(MakePng(Gradient(61, 63))).warnings, IsEmpty());
  EXPECT_THAT(Cook(MakePng(Gradient(128, 128)), {{"block", "6x6"}}, "astc").warnings, IsEmpty());
}

TEST_F(TextureCookerTest, WrongSettingsAreNamed) {
  const std::string png = MakePng(Gradient(8, 8));
  EXPECT_EQ(ErrorOf(png, {}, ""),
            "the platform has no texture family; set `texture` to bc, astc or rgba8 in its "
            "[[platform]], or `format` in the rule");
  EXPECT_EQ(ErrorOf(png, {}, "pvrtc"),
            "the platform's texture family is \"pvrtc\"; expected bc, astc or rgba8");
  EXPECT_EQ(ErrorOf(png, {{"max_size", -1}}),
            "setting \"max_size\": expected an integer from 0 to 65535, not -1");
  EXPECT_EQ(ErrorOf(png, {{"zstd", 20}}),
            "setting \"zstd\": expected an integer from 0 to 19, not 20");
  for (const char* settings : {R"({"usage": "normals"})", R"({"mipmaps": 1})",
                               R"({"block": "7x7"})", R"({"layers": [1]})"})
    EXPECT_FALSE(record::ResolveSettings(cooker_->description(), settings).ok()) << settings;
  EXPECT_THAT(ErrorOf(png, {{"usage", "normal"}, {"color_space", "srgb"}}),
              HasSubstr("the settings usage = \"normal\" and color_space = \"srgb\" contradict"));
  EXPECT_THAT(ErrorOf(png, {{"format", "bc4"}, {"color_space", "srgb"}}),
              HasSubstr("linear values only"));
  const std::string hdr = MakeHdr(Gradient(8, 8), 4.0);
  EXPECT_THAT(ErrorOf(hdr, {{"format", "bc1"}}, "bc", "/Game/a.hdr"),
              HasSubstr("setting \"format\": \"bc1\" cannot hold an HDR image"));
  EXPECT_THAT(ErrorOf(hdr, {{"usage", "mask"}}, "bc", "/Game/a.hdr"),
              HasSubstr("an HDR image can only have the usage \"color\""));
}

TEST_F(TextureCookerTest, LossesAreWarnedOf) {
  EXPECT_THAT(Cook(MakePng(Gradient(8, 8, true)), {{"format", "bc1"}}).warnings,
              ElementsAre(HasSubstr("setting \"format\": \"bc1\" has no alpha")));
  EXPECT_THAT(Cook(MakePng(Gradient(8, 8)), {{"usage", "mask"}}).warnings,
              ElementsAre(HasSubstr("format \"bc4\" keeps the red channel only")));
  EXPECT_THAT(Cook(MakePng(Gradient(8, 8), {.kind = PngKind::kGrey}), {{"usage", "mask"}}).warnings,
              IsEmpty());
}

// A palette or JPEG makes such an image of a grey image.
TEST_F(TextureCookerTest, WhatIsNearlyGreyIsAMaskOfOneChannel) {
  const Bitmap bitmap = MakeBitmap(64, 64, [](uint32_t x, uint32_t y) {
    const auto grey = static_cast<uint8_t>(x * 2 + y);
    return Color{grey, grey, static_cast<uint8_t>(grey ^ 5), 255};
  });
  EXPECT_THAT(Cook(MakePng(bitmap), {{"usage", "mask"}}).warnings, IsEmpty());
}

TEST_F(TextureCookerTest, DamagedSourcesAreVerdicts) {
  std::string png = MakePng(Gradient(64, 64));
  EXPECT_THAT(ErrorOf(png.substr(0, png.size() / 2), {}), HasSubstr("png: the file is truncated"));
  EXPECT_EQ(ErrorOf("", {}), "png: the file is empty");
  png[png.size() / 2] = static_cast<char>(png[png.size() / 2] ^ 1);
  EXPECT_THAT(ErrorOf(png, {}), HasSubstr("png: "));
}

TEST_F(TextureCookerTest, TagsDescribeTheOutput) {
  const Cooked cooked = Cook(MakePng(Gradient(12, 5)), {{"format", "rgba8"}, {"mipmaps", false}});
  EXPECT_THAT(cooked.tags,
              ElementsAre(testing::Pair("bytes", testing::VariantWith<double>(
                                                     static_cast<double>(cooked.file.size()))),
                          testing::Pair("format", testing::VariantWith<std::string>("rgba8_srgb")),
                          testing::Pair("height", testing::VariantWith<double>(5)),
                          testing::Pair("mips", testing::VariantWith<double>(1)),
                          testing::Pair("width", testing::VariantWith<double>(12))));
}

TEST_F(TextureCookerTest, TheFileIsLaidOutAsTheSpecificationAsks) {
  for (const char* format : {"rgba8", "rgba16f", "bc1", "bc3", "bc4", "bc5", "astc"}) {
    const Ktx2File file =
        CookAndRead(MakePng(Gradient(37, 19)), {{"format", format}, {"usage", "mask"}});
    EXPECT_EQ(file.width, 37u);
    EXPECT_EQ(file.height, 19u);
    ASSERT_EQ(file.levels.size(), 6u);
    EXPECT_EQ(file.scheme, 0u);
    EXPECT_EQ(file.type_size, std::string_view(format) == "rgba16f" ? 2u : 1u);
    EXPECT_EQ(file.key_values.at("KTXorientation"), "rd");
    EXPECT_EQ(file.key_values.at("KTXwriter"), "galley");
    const TextureFormat texture_format{.kind = *ParseFormat(format), .astc_block = "6x6"};
    for (size_t i = 0; i < file.levels.size(); ++i) {
      EXPECT_EQ(file.levels[i].bytes.size(),
                texture_format.LevelBytes(std::max(37u >> i, 1u), std::max(19u >> i, 1u)));
      EXPECT_EQ(file.levels[i].offset % texture_format.block_bytes(), 0u);
      if (i > 0) {
        EXPECT_LT(file.levels[i].offset, file.levels[i - 1].offset);
      }
    }
  }
}

// Colour model, transfer function, block width - 1, bytes in plane 0; then for each sample bit
// offset, bit length - 1, channel, upper.
std::vector<uint32_t> DescriptorOf(const Ktx2File& file) {
  const auto at = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(file.descriptor[i]));
  };
  std::vector<uint32_t> found = {at(12), at(14), at(16), at(20)};
  for (size_t i = 28; i < file.descriptor.size(); i += 16) {
    found.insert(found.end(), {at(i) | at(i + 1) << 8, at(i + 2), at(i + 3),
                               at(i + 12) | at(i + 13) << 8 | at(i + 14) << 16 | at(i + 15) << 24});
  }
  return found;
}

TEST_F(TextureCookerTest, DescriptorsSayWhatTheTexelsAre) {
  const std::string png = MakePng(Gradient(8, 8));
  const auto descriptor = [&](const json& settings) {
    return DescriptorOf(CookAndRead(png, settings));
  };
  EXPECT_THAT(descriptor({{"format", "rgba8"}}),
              ElementsAre(1, 2, 0, 4, 0, 7, 0, 255, 8, 7, 1, 255, 16, 7, 2, 255, 24, 7, 0x1f, 255));
  EXPECT_THAT(descriptor({{"format", "rgba16f"}}),
              ElementsAre(1, 1, 0, 8, 0, 15, 0xc0, 0x3f800000, 16, 15, 0xc1, 0x3f800000, 32, 15,
                          0xc2, 0x3f800000, 48, 15, 0xcf, 0x3f800000));
  EXPECT_THAT(descriptor({{"format", "bc1"}}), ElementsAre(128, 2, 3, 8, 0, 63, 0, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "bc3"}, {"color_space", "linear"}}),
              ElementsAre(130, 1, 3, 16, 0, 63, 15, UINT32_MAX, 64, 63, 0, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "bc3"}}),
              ElementsAre(130, 2, 3, 16, 0, 63, 0x1f, UINT32_MAX, 64, 63, 0, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "bc4"}}), ElementsAre(131, 1, 3, 8, 0, 63, 0, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "bc5"}}),
              ElementsAre(132, 1, 3, 16, 0, 63, 0, UINT32_MAX, 64, 63, 1, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "astc"}, {"block", "8x5"}}),
              ElementsAre(162, 2, 7, 16, 0, 127, 0, UINT32_MAX));
  EXPECT_THAT(descriptor({{"format", "bc1"}, {"zstd", 3}}),
              ElementsAre(128, 2, 3, 0, 0, 63, 0, UINT32_MAX));
}

TEST_F(TextureCookerTest, SupercompressedLevelsInflateToThePlainOnes) {
  const std::string png = MakePng(Gradient(64, 64));
  const Cooked unpacked = Cook(png, {{"format", "rgba8"}});
  const Ktx2File plain = ReadKtx2(unpacked.file);
  const Cooked packed = Cook(png, {{"format", "rgba8"}, {"zstd", 5}});
  const Ktx2File inflated = ReadKtx2(packed.file);
  EXPECT_EQ(inflated.scheme, 2u);
  EXPECT_LT(packed.file.size(), unpacked.file.size());
  ASSERT_EQ(inflated.levels.size(), plain.levels.size());
  for (size_t i = 0; i < plain.levels.size(); ++i)
    EXPECT_EQ(inflated.levels[i].bytes, plain.levels[i].bytes);
}

TEST_F(TextureCookerTest, DecodedBlocksComeCloseToTheSource) {
  const Bitmap bitmap = Gradient(50, 34, true);
  const Bitmap opaque = Gradient(50, 34);
  for (const char* quality : {"fast", "medium", "thorough"}) {
    const auto psnr = [&](const char* format, const Bitmap& source, std::string_view channels) {
      const Ktx2File file = CookAndRead(
          MakePng(source), {{"format", format}, {"quality", quality}, {"mipmaps", false}});
      return Psnr(DecodeBlocks(file.levels[0].bytes, file.width, file.height, file.vk_format),
                  source, channels);
    };
    EXPECT_GT(psnr("bc1", opaque, "rgb"), 36.0) << quality;
    EXPECT_GT(psnr("bc3", opaque, "rgb"), 36.0) << quality;
    EXPECT_GT(psnr("bc3", bitmap, "a"), 40.0) << quality;
    EXPECT_GT(psnr("bc4", bitmap, "r"), 40.0) << quality;
    EXPECT_GT(psnr("bc5", bitmap, "rg"), 40.0) << quality;
    EXPECT_EQ(psnr("rgba8", bitmap, "rgba"), 99.0) << quality;
  }
}

// Blades of grass: thin, green to yellow, with soft edges; invisible texels have colours of their
// own.
Bitmap Grass() {
  return MakeBitmap(64, 64, [](uint32_t x, uint32_t y) {
    const uint8_t alphas[] = {0, 255, 90, 0, 0};
    const uint8_t alpha = alphas[(x + y / 8) % 5];
    if (alpha == 0) return (x + y) % 3 != 0 ? Color{255, 0, 255, 0} : Color{0, 0, 0, 0};
    return Color{static_cast<uint8_t>(40 + 3 * x), static_cast<uint8_t>(200 - y),
                 static_cast<uint8_t>(20 + y), alpha};
  });
}

// The visible difference, in dB: a texel's difference counts as much as its alpha.
double VisiblePsnr(const Bitmap& a, const Bitmap& b) {
  double error = 0;
  double weights = 0;
  for (size_t i = 0; i < a.texels.size(); ++i) {
    const Color& x = a.texels[i];
    const Color& y = b.texels[i];
    const double weight = y.alpha / 255.0;
    for (const int d : {x.red - y.red, x.green - y.green, x.blue - y.blue}) error += weight * d * d;
    weights += 3 * weight;
  }
  return 10 * std::log10(255 * 255 * weights / error);
}

TEST_F(TextureCookerTest, ColorsOfInvisibleTexelsTakeNothingFromTheOthers) {
  const Bitmap grass = Grass();
  for (const char* quality : {"fast", "medium", "thorough"}) {
    const auto psnr = [&](const char* usage) {
      const Ktx2File file = CookAndRead(
          MakePng(grass),
          {{"format", "bc3"}, {"usage", usage}, {"quality", quality}, {"mipmaps", false}});
      return VisiblePsnr(
          DecodeBlocks(file.levels[0].bytes, file.width, file.height, file.vk_format), grass);
    };
    EXPECT_GT(psnr("color"), 30.0) << quality;
    // The channels of a mask are separate quantities: alpha says nothing about the others.
    EXPECT_LT(psnr("mask"), 22.0) << quality;
    RecordProperty(std::string("visible_db_") + quality, std::to_string(psnr("color")));
  }
}

TEST_F(TextureCookerTest, BlocksOfOneAlphaAreFittedAsEver) {
  const auto with_alpha = [](uint8_t alpha) {
    return MakePng(MakeBitmap(16, 16, [alpha](uint32_t x, uint32_t y) {
      return Color{static_cast<uint8_t>(x * 15), static_cast<uint8_t>(y * 9),
                   static_cast<uint8_t>(x * y), alpha};
    }));
  };
  const json settings = {{"format", "bc3"}, {"mipmaps", false}};
  for (const uint8_t alpha : {uint8_t{0}, uint8_t{100}}) {
    const std::string opaque = CookAndRead(with_alpha(255), settings).levels[0].bytes;
    std::string found = CookAndRead(with_alpha(alpha), settings).levels[0].bytes;
    for (size_t i = 0; i < found.size(); i += 16)
      EXPECT_EQ(found.substr(i + 8, 8), opaque.substr(i + 8, 8)) << int{alpha};
  }
}

TEST_F(TextureCookerTest, DecodedAstcComesCloseToTheSource) {
  const Bitmap bitmap = Gradient(50, 34, true);
  for (const char* quality : {"fast", "medium", "thorough"}) {
    const Ktx2File file = CookAndRead(MakePng(bitmap), {{"format", "astc"},
                                                        {"block", "5x4"},
                                                        {"quality", quality},
                                                        {"mipmaps", false},
                                                        {"color_space", "linear"},
                                                        {"usage", "mask"}});
    EXPECT_GT(Psnr(DecodeAstc(file.levels[0].bytes, 50, 34, 5, 4), bitmap, "rgba"), 38.0)
        << quality;
  }
}

TEST_F(TextureCookerTest, AstcNormalsLieInRedAndAlphaAndSayso) {
  const Bitmap waves = Waves(48, 48);
  const Ktx2File file =
      CookAndRead(MakePng(waves), {{"usage", "normal"}, {"block", "4x4"}}, "astc");
  EXPECT_EQ(file.key_values.at("KTXswizzle"), "ra01");
  Bitmap decoded = DecodeAstc(file.levels[0].bytes, 48, 48, 4, 4);
  for (Color& color : decoded.texels) color.green = color.alpha;
  EXPECT_GT(Psnr(decoded, waves, "rg"), 36.0);
}

TEST_F(TextureCookerTest, TheSameSourceGivesTheSameBytesOnAnyCooker) {
  const std::string png = MakePng(Gradient(40, 40, true));
  for (const char* family : {"bc", "astc", "rgba8"}) {
    const std::string first = Cook(png, {}, family).file;
    Cook(MakePng(Waves(16, 16)), {{"usage", "normal"}}, family);
    EXPECT_EQ(Cook(png, {}, family).file, first);
    cooker_ = CreateTextureCooker();
    EXPECT_EQ(Cook(png, {}, family).file, first);
  }
}

TEST_F(TextureCookerTest, OneLoadServesSeveralPlatforms) {
  const std::string png = MakePng(Gradient(20, 20));
  FakeCookContext loading(cooker_->description(), "/Game/a.png", png);
  absl::StatusOr<std::unique_ptr<Cooker::Loaded>> loaded = cooker_->Load(loading);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loading.looks(), IsEmpty());
  for (const char* family : {"bc", "astc", "rgba8"}) {
    FakeCookContext context(cooker_->description(), "/Game/a.png", png);
    context.SetPlatform("texture", family);
    ASSERT_TRUE(cooker_->Cook(context, **loaded).ok());
    EXPECT_EQ(context.output(".ktx2"), Cook(png, {}, family).file);
  }
}

TEST_F(TextureCookerTest, TheIdentityNamesTheLibraries) {
  EXPECT_THAT(cooker_->description().identity,
              testing::MatchesRegex("5;libpng=[0-9.]+;libjpeg=[0-9.]+-[0-9a-z]+;stb_dxt=1.12;"
                                    "squish=[0-9a-z]+;astcenc=[0-9a-z]+;zstd=[0-9.]+"));
}

// Bytes that changed need a new kRevision in texture_cooker.cc, unless only a library changed.
// GALLEY_UPDATE_GOLDENS=1 rewrites the file.
TEST_F(TextureCookerTest, OutputsAreTheGoldenOnes) {
  const Bitmap color = Gradient(37, 19);
  const Bitmap cutout = Gradient(37, 19, true);
  std::string found;
  const auto add = [&](std::string_view name, const std::string& source, const json& settings,
                       const std::string& package = "/Game/a.png") {
    found += std::string(name) + " " +
             Digest::Of(Cook(source, settings, "bc", package).file).ToString() + "\n";
  };
  for (const char* quality : {"fast", "medium", "thorough"}) {
    for (const char* format : {"bc1", "bc3", "bc4", "bc5", "astc"}) {
      add(std::string(format) + "-" + quality, MakePng(cutout),
          {{"format", format}, {"quality", quality}});
    }
  }
  add("rgba8", MakePng(cutout), {{"format", "rgba8"}});
  add("rgba8-16-bit", MakePng(cutout, {.bits = 16}), {{"format", "rgba8"}});
  add("rgba16f", MakePng(cutout, {.bits = 16}), {{"format", "rgba16f"}});
  add("rgba8-zstd", MakePng(color), {{"format", "rgba8"}, {"zstd", 3}});
  add("rgba8-max-size", MakePng(color), {{"format", "rgba8"}, {"max_size", 10}});
  add("bc5-normal", MakePng(Waves(40, 24)), {{"usage", "normal"}});
  add("astc-normal", MakePng(Waves(40, 24)),
      {{"usage", "normal"}, {"format", "astc"}, {"block", "8x6"}});
  add("bc4-mask", MakePng(color), {{"usage", "mask"}});
  add("hdr", MakeHdr(color, 8.0), json::object(), "/Game/a.hdr");
  add("tga", MakeTga(cutout), json::object(), "/Game/a.tga");
  add("bmp", MakeBmp(color), json::object(), "/Game/a.bmp");
  add("jpg", MakeJpeg(color), {{"format", "rgba8"}}, "/Game/a.jpg");
  add("one-by-one", MakePng(Constant(1, 1, {1, 2, 3, 255})), json::object());
  files_["/Game/b.png"] = MakePng(Gradient(16, 16, true));
  const json five = {"b.png", "b.png", "b.png", "b.png", "b.png"};
  add("bc-array", MakePng(Gradient(16, 16)), {{"layers", five}});
  add("astc-cube", MakePng(Gradient(16, 16)),
      {{"format", "astc"}, {"layers", five}, {"layout", "cube"}});
  const std::string path =
      std::string(GALLEY_SOURCE_DIR) + "/worker/cookers/texture/testdata/goldens.txt";
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, found).ok());
  }
  const absl::StatusOr<std::string> golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(found, *golden);
}

TEST_F(TextureCookerTest, EveryTextureHasOneOutput) {
  const record::OutputNames names = record::OutputNamesOf(cooker_->description(), "{}", {});
  EXPECT_THAT(names.always, ElementsAre(".ktx2"));
  EXPECT_FALSE(names.has_more || names.may_generate);
}

}  // namespace
}  // namespace galley::worker::texture
