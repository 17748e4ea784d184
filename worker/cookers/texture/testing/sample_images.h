// Sample images: small images made by formulas, and writers of the file formats that the cooker
// reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace galley::worker::texture {

struct Color {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  uint8_t alpha = 255;
  bool operator==(const Color&) const = default;
};

struct Bitmap {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Color> texels;
  const Color& at(uint32_t x, uint32_t y) const { return texels[y * width + x]; }
};

Bitmap MakeBitmap(uint32_t width, uint32_t height,
                  const std::function<Color(uint32_t x, uint32_t y)>& color);
Bitmap Constant(uint32_t width, uint32_t height, Color color);
// Soft gradients with some texture, which suit block encoders. With alpha: a soft hole.
Bitmap Gradient(uint32_t width, uint32_t height, bool has_alpha = false);
// A normal map of waves.
Bitmap Waves(uint32_t width, uint32_t height);

enum class PngKind { kRgb, kRgba, kGrey, kGreyAlpha, kPalette, kRgbWithTransparentColor };
struct PngOptions {
  PngKind kind = PngKind::kRgba;
  // 16: each value times 257, not for palettes. Below 8: only kGrey (the high bits of a value) and
  // kPalette.
  uint32_t bits = 8;
  bool is_interlaced = false;
};
// Grey kinds use the red channel; palettes hold at most 2^bits colours with their alpha;
// kRgbWithTransparentColor makes the colour of texel (0, 0) transparent.
std::string MakePng(const Bitmap& bitmap, const PngOptions& options = {});
// An RGBA PNG whose texels are all zeros: small for any size.
std::string MakePngBomb(uint32_t width, uint32_t height);
// `png` with other dimensions in its header, and a fitting checksum.
std::string WithPngSize(std::string png, uint32_t width, uint32_t height);
// A chunk with its length and checksum.
std::string PngChunk(std::string_view type, std::string_view data);
// `png` with these whole chunks before its first chunk of `type`.
std::string WithPngChunks(const std::string& png, std::string_view type, std::string_view chunks);
// `png` with its image data cut into chunks of a byte, and `empty_count` empty chunks among them.
std::string WithPngDataInCrumbs(const std::string& png, size_t empty_count);
// The bytes compressed by zlib: texts, profiles and image data of a PNG are stored so.
std::string Deflated(std::string_view bytes);
enum class JpegKind { kRgb, kGrey, kCmyk };
struct JpegOptions {
  JpegKind kind = JpegKind::kRgb;  // kGrey uses the red channel, kCmyk all four as they are
  bool is_progressive = false;
  uint32_t restart_interval = 0;  // a marker after this many units of coefficients; 0: none
};
std::string MakeJpeg(const Bitmap& bitmap, const JpegOptions& options = {});
std::string MakeTga(const Bitmap& bitmap, bool is_run_length = false);
std::string MakeBmp(const Bitmap& bitmap);
// A channel of the picture is `scale` times the bitmap's value / 256.
std::string MakeHdr(const Bitmap& bitmap, double scale);

}  // namespace galley::worker::texture
