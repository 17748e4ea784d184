#include "worker/cookers/texture/testing/sample_images.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>

#include <jpeglib.h>

#include <cmath>

#include "common/base/status_macros.h"

namespace galley::worker::texture {
namespace {

void Put16(std::string& out, uint32_t value) {
  out.push_back(static_cast<char>(value & 0xff));
  out.push_back(static_cast<char>(value >> 8 & 0xff));
}
void Put32(std::string& out, uint32_t value) {
  Put16(out, value);
  Put16(out, value >> 16);
}

void PutBig32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}
size_t BigAt32(const std::string& bytes, size_t at) {
  size_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

struct PngLayout {
  int color_type = 0;
  int bit_depth = 8;
  std::vector<std::vector<uint8_t>> rows;
  std::vector<png_color> palette;
  std::vector<png_byte> palette_alpha;
  bool has_transparent_color = false;
};

int ColorType(PngKind kind) {
  switch (kind) {
    case PngKind::kRgb:
    case PngKind::kRgbWithTransparentColor:
      return PNG_COLOR_TYPE_RGB;
    case PngKind::kRgba:
      return PNG_COLOR_TYPE_RGBA;
    case PngKind::kGrey:
      return PNG_COLOR_TYPE_GRAY;
    case PngKind::kGreyAlpha:
      return PNG_COLOR_TYPE_GRAY_ALPHA;
    case PngKind::kPalette:
      return PNG_COLOR_TYPE_PALETTE;
  }
  return 0;
}

uint8_t PaletteIndex(PngLayout& layout, const Color& color) {
  for (size_t i = 0; i < layout.palette.size(); ++i) {
    const png_color& known = layout.palette[i];
    if (Color{known.red, known.green, known.blue, layout.palette_alpha[i]} == color)
      return static_cast<uint8_t>(i);
  }
  GALLEY_CHECK(layout.palette.size() < 256);
  layout.palette.push_back({color.red, color.green, color.blue});
  layout.palette_alpha.push_back(color.alpha);
  return static_cast<uint8_t>(layout.palette.size() - 1);
}

std::vector<uint8_t> Values(PngLayout& layout, PngKind kind, const Color& color) {
  switch (kind) {
    case PngKind::kRgb:
    case PngKind::kRgbWithTransparentColor:
      return {color.red, color.green, color.blue};
    case PngKind::kRgba:
      return {color.red, color.green, color.blue, color.alpha};
    case PngKind::kGrey:
      return {color.red};
    case PngKind::kGreyAlpha:
      return {color.red, color.alpha};
    case PngKind::kPalette:
      return {PaletteIndex(layout, color)};
  }
  return {};
}

PngLayout LayOut(const Bitmap& bitmap, const PngOptions& options) {
  PngLayout layout;
  layout.color_type = ColorType(options.kind);
  layout.bit_depth = static_cast<int>(options.bits);
  for (uint32_t y = 0; y < bitmap.height; ++y) {
    std::vector<uint8_t>& row = layout.rows.emplace_back();
    for (uint32_t x = 0; x < bitmap.width; ++x) {
      for (const uint8_t value : Values(layout, options.kind, bitmap.at(x, y))) {
        const bool is_few = options.bits < 8 && options.kind == PngKind::kGrey;
        row.insert(row.end(), options.bits == 16 ? 2 : 1,  // value * 257 in either byte order
                   static_cast<uint8_t>(is_few ? value >> (8 - options.bits) : value));
      }
    }
  }
  layout.has_transparent_color = options.kind == PngKind::kRgbWithTransparentColor;
  return layout;
}

void AppendBytes(png_structp png, png_bytep bytes, size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(bytes), size);
}

}  // namespace

Bitmap MakeBitmap(uint32_t width, uint32_t height,
                  const std::function<Color(uint32_t, uint32_t)>& color) {
  Bitmap bitmap{.width = width, .height = height, .texels = {}};
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) bitmap.texels.push_back(color(x, y));
  }
  return bitmap;
}

Bitmap Constant(uint32_t width, uint32_t height, Color color) {
  return MakeBitmap(width, height, [&](uint32_t, uint32_t) { return color; });
}

Bitmap Gradient(uint32_t width, uint32_t height, bool has_alpha) {
  return MakeBitmap(width, height, [&](uint32_t x, uint32_t y) {
    const uint32_t grain = (x * 7 + y * 13) % 5;
    const uint32_t distance = (x > width / 2 ? x - width / 2 : width / 2 - x) +
                              (y > height / 2 ? y - height / 2 : height / 2 - y);
    return Color{.red = static_cast<uint8_t>(x * 200 / width + grain),
                 .green = static_cast<uint8_t>(y * 180 / height + 40 + grain),
                 .blue = static_cast<uint8_t>((x + y) * 100 / (width + height) + 30),
                 .alpha = static_cast<uint8_t>(
                     has_alpha ? std::min(255u, distance * 510 / (width + height)) : 255)};
  });
}

Bitmap Waves(uint32_t width, uint32_t height) {
  return MakeBitmap(width, height, [](uint32_t x, uint32_t y) {
    // Triangle waves: goldens depend on no libm function but sqrt, which is exact.
    const auto slope = [](uint32_t i) {
      return static_cast<double>(i % 16 < 8 ? i % 8 : 8 - i % 8) / 12.0;
    };
    const double length = std::sqrt(slope(x) * slope(x) + slope(y) * slope(y) + 1.0);
    const auto pack = [&](double v) {
      return static_cast<uint8_t>((v / length * 0.5 + 0.5) * 255.0 + 0.5);
    };
    return Color{.red = pack(slope(x)), .green = pack(slope(y)), .blue = pack(1.0), .alpha = 255};
  });
}

std::string MakePng(const Bitmap& bitmap, const PngOptions& options) {
  PngLayout layout = LayOut(bitmap, options);
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &out, &AppendBytes, nullptr);
  png_set_IHDR(png, info, bitmap.width, bitmap.height, layout.bit_depth, layout.color_type,
               options.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!layout.palette.empty()) {
    png_set_PLTE(png, info, layout.palette.data(), static_cast<int>(layout.palette.size()));
    png_set_tRNS(png, info, layout.palette_alpha.data(),
                 static_cast<int>(layout.palette_alpha.size()), nullptr);
  }
  if (layout.has_transparent_color) {
    const Color& color = bitmap.at(0, 0);
    const unsigned scale = options.bits == 16 ? 257 : 1;
    png_color_16 transparent{};
    transparent.red = static_cast<png_uint_16>(color.red * scale);
    transparent.green = static_cast<png_uint_16>(color.green * scale);
    transparent.blue = static_cast<png_uint_16>(color.blue * scale);
    png_set_tRNS(png, info, nullptr, 0, &transparent);
  }
  png_write_info(png, info);
  if (layout.bit_depth < 8) png_set_packing(png);
  std::vector<png_bytep> rows;
  for (std::vector<uint8_t>& row : layout.rows) rows.push_back(row.data());
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string MakePngBomb(uint32_t width, uint32_t height) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &out, &AppendBytes, nullptr);
  png_set_compression_level(png, 1);
  png_set_filter(png, 0, PNG_FILTER_NONE);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const std::vector<uint8_t> row(size_t{width} * 4);
  for (uint32_t y = 0; y < height; ++y) png_write_row(png, row.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string PngChunk(std::string_view type, std::string_view data) {
  std::string chunk;
  PutBig32(chunk, static_cast<uint32_t>(data.size()));
  chunk += type;
  chunk += data;
  const auto* checked = reinterpret_cast<const Bytef*>(chunk.data() + 4);
  PutBig32(chunk, static_cast<uint32_t>(crc32(0, checked, static_cast<uInt>(chunk.size() - 4))));
  return chunk;
}

std::string WithPngSize(std::string png, uint32_t width, uint32_t height) {
  constexpr size_t kHeaderStart = 8;  // after the signature
  constexpr size_t kDataStart = kHeaderStart + 8;
  constexpr size_t kDataSize = 13;
  std::string data;
  PutBig32(data, width);
  PutBig32(data, height);
  data += png.substr(kDataStart + 8, kDataSize - 8);
  const std::string header = PngChunk("IHDR", data);
  return png.replace(kHeaderStart, header.size(), header);
}

std::string WithPngChunks(const std::string& png, std::string_view type, std::string_view chunks) {
  const size_t name = png.find(type);
  GALLEY_CHECK(name != std::string::npos && name >= 4);
  return png.substr(0, name - 4).append(chunks).append(png, name - 4);
}

std::string WithPngDataInCrumbs(const std::string& png, size_t empty_count) {
  const size_t begin = png.find("IDAT") - 4;
  const std::string empty = PngChunk("IDAT", "");
  std::string crumbs;
  size_t at = begin;
  while (png.substr(at + 4, 4) == "IDAT") {
    const size_t size = BigAt32(png, at);
    for (size_t i = 0; i < size; ++i) {
      crumbs += PngChunk("IDAT", png.substr(at + 8 + i, 1));
      for (; empty_count > 0 && i == size / 2; --empty_count) crumbs += empty;
    }
    at += size + 12;
  }
  return png.substr(0, begin) + crumbs + png.substr(at);
}

std::string Deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  GALLEY_CHECK(compress(reinterpret_cast<Bytef*>(out.data()), &size,
                        reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  out.resize(size);
  return out;
}

std::string MakeJpeg(const Bitmap& bitmap, const JpegOptions& options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = bitmap.width;
  info.image_height = bitmap.height;
  const bool is_grey = options.kind == JpegKind::kGrey;
  const bool is_cmyk = options.kind == JpegKind::kCmyk;
  info.input_components = is_grey ? 1 : is_cmyk ? 4 : 3;
  info.in_color_space = is_grey ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  info.restart_interval = options.restart_interval;
  if (options.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (uint32_t y = 0; y < bitmap.height; ++y) {
    std::vector<uint8_t> row;
    for (uint32_t x = 0; x < bitmap.width; ++x) {
      const Color& color = bitmap.at(x, y);
      const uint8_t values[] = {color.red, color.green, color.blue, color.alpha};
      row.insert(row.end(), values, values + info.input_components);
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}

std::string MakeTga(const Bitmap& bitmap, bool is_run_length) {
  std::string out(2, '\0');
  out.push_back(is_run_length ? 10 : 2);
  out.append(9, '\0');
  Put16(out, bitmap.width);
  Put16(out, bitmap.height);
  out.push_back(32);
  out.push_back(0x28);  // 8 bits of alpha, rows from the top
  for (const Color& color : bitmap.texels) {
    if (is_run_length) out.push_back(static_cast<char>(0x80));  // a run of one
    for (const uint8_t value : {color.blue, color.green, color.red, color.alpha})
      out.push_back(static_cast<char>(value));
  }
  return out;
}

std::string MakeBmp(const Bitmap& bitmap) {
  const uint32_t row_bytes = (bitmap.width * 3 + 3) / 4 * 4;
  std::string out = "BM";
  Put32(out, 54 + row_bytes * bitmap.height);
  Put32(out, 0);
  Put32(out, 54);
  Put32(out, 40);
  Put32(out, bitmap.width);
  Put32(out, bitmap.height);
  Put16(out, 1);
  Put16(out, 24);
  out.append(24, '\0');
  for (uint32_t y = bitmap.height; y-- > 0;) {
    const size_t start = out.size();
    for (uint32_t x = 0; x < bitmap.width; ++x) {
      const Color& color = bitmap.at(x, y);
      for (const uint8_t value : {color.blue, color.green, color.red})
        out.push_back(static_cast<char>(value));
    }
    out.resize(start + row_bytes, '\0');
  }
  return out;
}

std::string MakeHdr(const Bitmap& bitmap, double scale) {
  std::string out = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(bitmap.height) +
                    " +X " + std::to_string(bitmap.width) + "\n";
  int exponent = 0;
  std::frexp(scale, &exponent);
  for (const Color& color : bitmap.texels) {
    for (const int value : {int{color.red}, int{color.green}, int{color.blue}, 128 + exponent - 1})
      out.push_back(static_cast<char>(value));
  }
  return out;
}

}  // namespace galley::worker::texture
