#include "worker/cookers/texture/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "common/base/file.h"
#include "worker/cookers/source/foreign_source.h"
#include "worker/cookers/texture/testing/block_decoder.h"
#include "worker/cookers/texture/testing/decoding.h"
#include "worker/cookers/texture/testing/sample_images.h"

namespace galley::worker::texture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bitmap Grey(Bitmap bitmap, bool keeps_alpha) {
  for (Color& color : bitmap.texels)
    color = {color.red, color.red, color.red, keeps_alpha ? color.alpha : uint8_t{255}};
  return bitmap;
}

// An image of at most 256 colours.
Bitmap Patches(bool has_alpha) {
  return MakeBitmap(13, 7, [&](uint32_t x, uint32_t y) {
    return Color{static_cast<uint8_t>(x * 15), static_cast<uint8_t>(y * 30), 99,
                 static_cast<uint8_t>(has_alpha && x == y ? 40 : 255)};
  });
}

TEST(DecodePngTest, EveryKindIsExpandedToRgba) {
  const Bitmap bitmap = Patches(true);
  for (const bool is_interlaced : {false, true}) {
    const auto decoded = [&](PngKind kind, const Bitmap& source) {
      return DecodedBitmap("png", MakePng(source, {.kind = kind, .is_interlaced = is_interlaced}))
          .texels;
    };
    EXPECT_EQ(decoded(PngKind::kRgba, bitmap), bitmap.texels);
    EXPECT_EQ(decoded(PngKind::kRgb, Patches(false)), Patches(false).texels);
    EXPECT_EQ(decoded(PngKind::kPalette, bitmap), bitmap.texels);
    EXPECT_EQ(decoded(PngKind::kGrey, bitmap), Grey(bitmap, false).texels);
    EXPECT_EQ(decoded(PngKind::kGreyAlpha, bitmap), Grey(bitmap, true).texels);
  }
}

TEST(DecodePngTest, FewBitsSpanTheWholeRange) {
  const Bitmap ramp = MakeBitmap(19, 3, [](uint32_t x, uint32_t y) {
    return Color{static_cast<uint8_t>(x * 13 + y), 0, 0, 255};
  });
  for (const uint32_t bits : {1u, 2u, 4u, 8u}) {
    const uint32_t most = (1u << bits) - 1;
    Bitmap expected = ramp;
    for (Color& color : expected.texels) {
      const auto grey = static_cast<uint8_t>((color.red >> (8 - bits)) * 255u / most);
      color = {grey, grey, grey, 255};
    }
    for (const bool is_interlaced : {false, true}) {
      const std::string png =
          MakePng(ramp, {.kind = PngKind::kGrey, .bits = bits, .is_interlaced = is_interlaced});
      EXPECT_EQ(DecodedBitmap("png", png).texels, expected.texels) << bits;
    }
  }
}

TEST(DecodePngTest, PalettesOfFewBitsKeepTheirColorsAndAlpha) {
  for (const uint32_t bits : {1u, 2u, 4u}) {
    const Bitmap bitmap = MakeBitmap(11, 3, [&](uint32_t x, uint32_t y) {
      const uint32_t i = (x + y) % (1u << bits);
      return Color{static_cast<uint8_t>(i * 9), 7, 8, static_cast<uint8_t>(255 - i)};
    });
    EXPECT_EQ(
        DecodedBitmap("png", MakePng(bitmap, {.kind = PngKind::kPalette, .bits = bits})).texels,
        bitmap.texels)
        << bits;
  }
}

TEST(DecodePngTest, TransparentColorBecomesAlpha) {
  Bitmap bitmap = Patches(false);
  const std::string png = MakePng(bitmap, {.kind = PngKind::kRgbWithTransparentColor});
  bitmap.texels[0].alpha = 0;
  EXPECT_EQ(DecodedBitmap("png", png).texels, bitmap.texels);
}

TEST(DecodePngTest, SixteenBitsAreKept) {
  const auto decoded = Decode("png", MakePng(Constant(3, 2, {1, 2, 3, 4}), {.bits = 16}), {});
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const auto& texels = std::get<std::vector<uint16_t>>(decoded->image.texels);
  ASSERT_EQ(texels.size(), 24u);
  EXPECT_EQ((std::vector<uint16_t>(texels.begin() + 20, texels.end())),
            (std::vector<uint16_t>{257, 514, 771, 1028}));
}

TEST(DecodeTest, AlphaIsNoticedInOneTexelOnly) {
  Bitmap bitmap = Constant(5, 5, {9, 9, 9, 255});
  EXPECT_FALSE(Decode("png", MakePng(bitmap), {})->image.has_alpha);
  bitmap.texels.back().alpha = 254;
  EXPECT_TRUE(Decode("png", MakePng(bitmap), {})->image.has_alpha);
}

TEST(DecodePngTest, ABombIsRefusedByItsHeader) {
  const std::string bomb = WithPngSize(MakePngBomb(16384, 64), 16384, 16384);
  EXPECT_EQ(ErrorOf("png", bomb),
            "png: the image is 16384 x 16384 (RGBA, 8 bits a channel): 1073741824 bytes decoded, "
            "above the limit of 1024000000; "
            "make it smaller or split it");
  EXPECT_EQ(ErrorOf("png", MakePngBomb(65536, 1)),
            "png: the image is 65536 x 1; each side must be from 1 to 65535 texels");
}

TEST(DecodePngTest, SidesOfNothingAndBeyondEveryLimitAreNamed) {
  const std::string png = MakePng(Constant(4, 4, {}));
  for (const auto& [width, height] :
       std::initializer_list<std::pair<uint32_t, uint32_t>>{{0, 4},
                                                            {4, 0},
                                                            {0, 0},
                                                            {0x80000000, 1},
                                                            {1, 0x80000000},
                                                            {UINT32_MAX, UINT32_MAX},
                                                            {0x7fffffff, 1},
                                                            {65536, 1}}) {
    EXPECT_EQ(ErrorOf("png", WithPngSize(png, width, height)),
              "png: the image is " + std::to_string(width) + " x " + std::to_string(height) +
                  "; each side must be from 1 to 65535 texels");
  }
}

// `png` with another palette of `colors` entries in the place of its own.
std::string WithShorterPalette(const std::string& png, size_t colors) {
  const size_t at = png.find("PLTE") - 4;
  const std::string palette(colors * 3, '\x55');
  return png.substr(0, at) + PngChunk("PLTE", palette) + png.substr(png.find("IDAT") - 4);
}

TEST(DecodePngTest, AnIndexOutsideThePaletteIsAnError) {
  for (const uint32_t bits : {2u, 4u, 8u}) {
    const Bitmap bitmap{3, 1, {{1, 2, 3, 255}, {4, 5, 6, 255}, {7, 8, 9, 255}}};
    const std::string png = MakePng(bitmap, {.kind = PngKind::kPalette, .bits = bits});
    EXPECT_EQ(ErrorOf("png", WithShorterPalette(png, 2)),
              "png: the file is corrupt: a texel has colour 2, and the palette holds 2")
        << bits;
    EXPECT_EQ(DecodedBitmap("png", WithShorterPalette(png, 3)).texels.back(),
              (Color{0x55, 0x55, 0x55, 255}));
  }
}

TEST(DecodePngTest, ImageDataInAMillionChunksIsDecoded) {
  const Bitmap bitmap = Gradient(40, 30);
  const std::string png = WithPngDataInCrumbs(MakePng(bitmap), 1'000'000);
  EXPECT_GT(png.size(), 12'000'000u);
  EXPECT_EQ(DecodedBitmap("png", png).texels, bitmap.texels);
}

// The rise of this process's memory peak while `work` ran.
template <typename Work>
uint64_t PeakRise(const Work& work) {
  const auto peak = [] {
    const std::string status = *ReadFile("/proc/self/status");
    return std::stoull(status.substr(status.find("VmHWM:") + 6)) << 10;
  };
  std::ofstream("/proc/self/clear_refs") << "5";  // sets the peak to the memory that is held now
  const uint64_t before = peak();
  work();
  return peak() - before;
}

// A profile that libpng would take: `size` bytes, zeros behind its header.
std::string Profile(uint32_t claimed_size, size_t size) {
  std::string profile(size, '\0');
  const auto put = [&](size_t at, std::string_view text) {
    profile.replace(at, text.size(), text);
  };
  for (size_t i = 0; i < 4; ++i)
    profile[i] = static_cast<char>(claimed_size >> (24 - 8 * i) & 0xff);
  put(8, "\2");
  put(12, "mntrRGB XYZ ");
  put(36, "acsp");
  put(68, std::string_view("\0\0\xf6\xd6\0\1\0\0\0\0\xd3\x2d", 12));
  return profile;
}

TEST(DecodePngTest, BombsInTextsAndProfilesAreNeverInflated) {
  const Bitmap bitmap = Gradient(40, 30);
  const std::string png = MakePng(bitmap);
  const std::string zeros = Deflated(std::string(7'900'000, 'x'));
  ASSERT_LT(zeros.size(), 10'000u);
  const std::string key("key\0", 4);
  std::string texts;
  for (int i = 0; i < 64; ++i) {
    texts += PngChunk("zTXt", key + '\0' + zeros);
    texts += PngChunk("iTXt", key + std::string("\1\0\0\0", 4) + zeros);
  }
  const std::string within = PngChunk("iCCP", key + '\0' + Deflated(Profile(7'900'000, 7'900'000)));
  const std::string beyond =
      PngChunk("iCCP", key + '\0' + Deflated(Profile(UINT32_MAX - 3, 16 << 20)));
  const std::string long_text = PngChunk("tEXt", key + std::string(7'900'000, 'x'));
  for (const std::string& chunks : {texts, within, beyond, long_text}) {
    for (const char* place : {"IDAT", "IEND"}) {
      const std::string bomb = WithPngChunks(png, place, chunks);
      Bitmap decoded;
      const uint64_t rise = PeakRise([&] { decoded = DecodedBitmap("png", bomb); });
      EXPECT_EQ(decoded.texels, bitmap.texels);
      EXPECT_LT(rise, 6u << 20) << chunks.substr(4, 4) << " before " << place;
    }
  }
}

TEST(DecodePngTest, OfAnAnimationTheStillImageIsReadAndAWarningSaysSo) {
  const Bitmap still = Gradient(8, 8);
  const std::string control("\0\0\0\0\0\0\0\x8\0\0\0\x8\0\0\0\0\0\0\0\0\0\1\0\x0a\0\0", 26);
  const std::string apng = WithPngChunks(
      WithPngChunks(
          MakePng(still), "IDAT",
          PngChunk("acTL", std::string("\0\0\0\2\0\0\0\0", 8)) + PngChunk("fcTL", control)),
      "IEND",
      PngChunk("fcTL", std::string("\0\0\0\1", 4) + control.substr(4)) +
          PngChunk("fdAT",
                   std::string("\0\0\0\2", 4) + Deflated(std::string(8 * (1 + 8 * 4), '\0'))));
  EXPECT_EQ(DecodedBitmap("png", apng).texels, still.texels);
  EXPECT_THAT(Decode("png", apng, {})->warnings, ElementsAre(HasSubstr("an animation (APNG)")));
  EXPECT_THAT(Decode("png", MakePng(still), {})->warnings, IsEmpty());
}

TEST(DecodePngTest, MoreThanTheJobsMemoryIsNoVerdict) {
  const std::string png = MakePng(Constant(64, 64, {}));
  EXPECT_EQ(ErrorOf("png", png, {.memory_bytes_max = 64 * 64 * 4 * 4}), "decoded");
  EXPECT_THAT(ErrorOf("png", png, {.memory_bytes_max = 64 * 64 * 4 * 4 - 4}),
              HasSubstr("OUT_OF_RANGE: png: the image is 64 x 64"));
}

TEST(DecodePngTest, AHugeImageInAFewBytesIsTruncatedBeforeAnythingIsAllocated) {
  EXPECT_THAT(ErrorOf("png", WithPngSize(MakePng(Constant(4, 4, {})), 16000, 15000)),
              HasSubstr("png: the file is truncated: an image of 16000 x 15000 takes at least "
                        "930232 bytes, the file has "));
}

TEST(DecodePngTest, TruncatedAnywhereIsAnError) {
  for (const bool is_interlaced : {false, true}) {
    const std::string png = MakePng(Gradient(40, 30, true), {.is_interlaced = is_interlaced});
    for (size_t size = 0; size < png.size(); size += size < 64 ? 1 : 64) {
      EXPECT_NE(ErrorOf("png", png.substr(0, size)), "decoded") << size;
    }
    EXPECT_NE(ErrorOf("png", png.substr(0, png.size() - 1)), "decoded");
  }
}

TEST(DecodePngTest, AFlippedBitInTheImageIsAnError) {
  const std::string png = MakePng(Gradient(40, 30));
  for (size_t i = 8; i < png.size(); i += 37) {
    std::string damaged = png;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(ErrorOf("png", damaged), "decoded") << i;
  }
}

std::string ForeignText(const std::string& format, std::string_view bytes) {
  return format + ": " + std::string(ForeignSource(format, bytes).message());
}

TEST(DecodeTest, EmptyAndMisnamedFilesSayWhatTheyAre) {
  for (const char* extension : {"png", "jpg", "tga", "bmp", "hdr"}) {
    EXPECT_EQ(ErrorOf(extension, ""), std::string(extension) + ": the file is empty");
  }
  EXPECT_EQ(ErrorOf("png", MakeJpeg(Gradient(8, 8))),
            "png: the file is a jpg; name it .jpg, or convert it");
  EXPECT_EQ(ErrorOf("jpg", MakePng(Constant(2, 2, {}))),
            "jpg: the file is a png; name it .png, or convert it");
  EXPECT_EQ(ErrorOf("png", "version https://git-lfs.github.com/spec/v1\n"),
            "png: the file is a Git LFS pointer; run `git lfs pull`");
  EXPECT_EQ(ErrorOf("bmp", "something else"), ForeignText("bmp", "something else"));
  EXPECT_EQ(ErrorOf("exr", "v/1"),
            "texture: expected a png, jpg, jpeg, tga, bmp or hdr file, not .exr");
}

// Formats that stb_image would read; none is read because of its bytes alone.
TEST(DecodeTest, OtherFormatsUnderTheNameOfOneThatIsReadAreCalledWhatTheyAre) {
  const std::pair<std::string, std::string> files[] = {
      {"psd", std::string("8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\x8\0\3", 26)},
      {"gif",
       std::string("GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;", 35)},
      {"gif", std::string("GIF87a\1\0\1\0\0\0\0", 13)},
      {"pnm", "P1\n1 1\n1\n"},
      {"pnm", "P2 1 1 255 9\n"},
      {"pnm", "P3\r\n1 1 255 9 9 9\n"},
      {"pnm", std::string("P4\n1 1\n\0", 8)},
      {"pnm", "P5\t1 1 255 x"},
      {"pnm", "P6\n1 1\n255\nabc"},
      {"tiff", std::string("II*\0\x8\0\0\0", 8)},
      {"tiff", std::string("MM\0*\0\0\0\x8", 8)},
      {"exr", std::string("\x76\x2f\x31\x01\2\0\0\0", 8)},
      {"webp", std::string("RIFF\x1a\0\0\0WEBPVP8L", 16)},
      {"dds", std::string("DDS |\0\0\0", 8)}};
  for (const auto& [format, bytes] : files) {
    for (const std::string extension : {"png", "jpg", "tga", "bmp", "hdr"}) {
      EXPECT_EQ(ErrorOf(extension, bytes), extension + ": the file is a " + format +
                                               "; convert it to png, jpg, tga, bmp or hdr, or " +
                                               std::string(kOtherCookers));
    }
  }
  EXPECT_EQ(ErrorOf("png", "P7\nWIDTH 1\n"), ForeignText("png", "P7\nWIDTH 1\n"));
  EXPECT_EQ(ErrorOf("png", "P5"), ForeignText("png", "P5"));
  EXPECT_EQ(ErrorOf("png", "<!DOCTYPE html>\n"),
            "png: the file is no png: it begins with `<!DOCTYPE html>`; replace or convert it, or "
            "for a file of another kind choose the cooker `copy` or `command`");
}

TEST(DecodeJpegTest, BaselineAndProgressiveComeCloseToTheSource) {
  const Bitmap bitmap = Gradient(61, 33);
  for (const bool is_progressive : {false, true}) {
    EXPECT_GT(Psnr(DecodedBitmap("jpeg", MakeJpeg(bitmap, {.is_progressive = is_progressive})),
                   bitmap, "rgb"),
              34.0);
  }
}

TEST(DecodeJpegTest, TruncatedIsAnErrorNotGrey) {
  for (const bool is_progressive : {false, true}) {
    const std::string jpeg = MakeJpeg(Gradient(61, 33), {.is_progressive = is_progressive});
    for (size_t size = 0; size + 2 < jpeg.size(); size += 16)
      EXPECT_NE(ErrorOf("jpg", jpeg.substr(0, size)), "decoded") << size;
  }
}

TEST(DecodeJpegTest, GreyBecomesThreeEqualChannels) {
  const Bitmap grey = Grey(Gradient(40, 24), false);
  const Bitmap decoded = DecodedBitmap("jpg", MakeJpeg(grey, {.kind = JpegKind::kGrey}));
  EXPECT_GT(Psnr(decoded, grey, "rgb"), 34.0);
  for (const Color& color : decoded.texels) {
    ASSERT_EQ(color, (Color{color.red, color.red, color.red, 255}));
  }
}

TEST(DecodeJpegTest, RestartMarkersChangeNothing) {
  const Bitmap bitmap = Gradient(61, 33);
  const std::string plain = MakeJpeg(bitmap);
  const std::string marked = MakeJpeg(bitmap, {.restart_interval = 2});
  EXPECT_NE(marked.find("\xff\xd1"), std::string::npos);
  EXPECT_EQ(DecodedBitmap("jpg", marked).texels, DecodedBitmap("jpg", plain).texels);
}

TEST(DecodeJpegTest, CmykIsRefused) {
  EXPECT_EQ(ErrorOf("jpg", MakeJpeg(Gradient(8, 8), {.kind = JpegKind::kCmyk})),
            "jpg: the image is CMYK; convert it to RGB");
}

TEST(DecodeJpegTest, AHugeImageInAFewBytesIsTruncatedBeforeAnythingIsAllocated) {
  std::string jpeg = MakeJpeg(Gradient(8, 8));
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (const size_t i : {5, 7}) jpeg.replace(frame + i, 2, "\x3e\x80");  // 16000 x 16000
  EXPECT_THAT(ErrorOf("jpg", jpeg), HasSubstr("jpg: the file is truncated: an image of 16000 x "
                                              "16000 takes at least 31250 bytes, the file has "));
}

TEST(DecodeTest, TheLimitsHoldForAllLayersTogether) {
  const std::string png = MakePng(Constant(64, 64, {}));
  EXPECT_EQ(ErrorOf("png", png, {.memory_bytes_max = 64 * 64 * 4 * 4 * 3, .images_count = 3}),
            "decoded");
  EXPECT_THAT(ErrorOf("png", png, {.memory_bytes_max = 64 * 64 * 4 * 4 * 3 - 4, .images_count = 3}),
              HasSubstr("OUT_OF_RANGE: png: the image is 64 x 64 (RGBA, 8 bits a channel) and "
                        "one of 3 layers: 49152 bytes decoded"));
  EXPECT_THAT(ErrorOf("png", WithPngSize(png, 16000, 8001), {.images_count = 2}),
              HasSubstr("1024128000 bytes decoded, above"));
}

TEST(DecodeTest, TheNarrowestAndTheLongestAreDecoded) {
  const Bitmap one = Constant(1, 1, {1, 2, 3, 255});
  const Bitmap wide = MakeBitmap(65535, 1, [](uint32_t x, uint32_t) {
    return Color{static_cast<uint8_t>(x), static_cast<uint8_t>(x >> 8), 7, 255};
  });
  for (const Bitmap& bitmap : {one, wide}) {
    EXPECT_EQ(DecodedBitmap("png", MakePng(bitmap)).texels, bitmap.texels);
    EXPECT_EQ(DecodedBitmap("tga", MakeTga(bitmap)).texels, bitmap.texels);
    EXPECT_EQ(DecodedBitmap("bmp", MakeBmp(bitmap)).texels, bitmap.texels);
  }
}

TEST(DecodeTest, TruncatedIsAnErrorNotBlack) {
  const Bitmap bitmap = Gradient(32, 8);
  const std::vector<std::pair<std::string, std::string>> files = {{"tga", MakeTga(bitmap)},
                                                                  {"tga", MakeTga(bitmap, true)},
                                                                  {"bmp", MakeBmp(bitmap)},
                                                                  {"hdr", MakeHdr(bitmap, 2.0)}};
  for (const auto& [extension, bytes] : files) {
    EXPECT_EQ(ErrorOf(extension, bytes), "decoded");
    for (size_t size = 1; size < bytes.size(); size += 16)
      EXPECT_NE(ErrorOf(extension, bytes.substr(0, size)), "decoded") << extension << size;
    EXPECT_THAT(ErrorOf(extension, bytes.substr(0, bytes.size() - 1)), HasSubstr("truncated"));
  }
}

}  // namespace
}  // namespace galley::worker::texture
