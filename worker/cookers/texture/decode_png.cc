// PNG by libpng. Errors of the library are long jumps: the code between setjmp and a jump has no
// destructors, and all state lives in PngReader outside.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

// The best ratio that Deflate can reach (zlib's technical notes: "maximum compression factor",
// 1032:1).
constexpr uint64_t kDeflateRatioMax = 1032;

// The memory that an ignored chunk may take; a longer chunk is not held at all.
constexpr png_alloc_size_t kIgnoredChunkBytesMax = 64 << 10;

class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : bytes_(bytes) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // ReadHeader and ReadRows return false with Error() set.
  bool ReadHeader();
  bool ReadRows(png_bytepp rows);

  absl::Status Error() const {
    return is_out_of_memory_ ? OutOfMemoryError("{}", error_) : absl::InvalidArgumentError(error_);
  }
  uint32_t width() const { return png_get_image_width(png_, info_); }
  uint32_t height() const { return png_get_image_height(png_, info_); }
  bool is_16_bit() const { return png_get_bit_depth(png_, info_) == 16; }
  // Whether the file is an APNG.
  bool is_animated() const { return is_animated_; }
  bool has_palette() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE; }
  bool is_grey() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0; }
  bool has_alpha() const {
    return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0 ||
           png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  }
  // Turns the rows' palette indices into RGBA, in place. REQUIRES: has_palette(), and the rows were
  // read.
  absl::Status ApplyPalette(std::vector<uint8_t>& texels);
  // The bits of a texel in the file, before expansion.
  uint64_t bits_per_texel() const {
    return uint64_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
  }

 private:
  static PngReader& Of(png_structp png) { return *static_cast<PngReader*>(png_get_error_ptr(png)); }
  static void OnError(png_structp png, png_const_charp text) {
    std::snprintf(Of(png).error_, sizeof(error_), "%s", text);
    png_longjmp(png, 1);
  }
  // Returns 1: the chunk is done with.
  static int OnIgnoredChunk(png_structp png, png_unknown_chunkp chunk) {
    PngReader& reader = *static_cast<PngReader*>(png_get_user_chunk_ptr(png));
    if (std::memcmp(chunk->name, "acTL", 4) == 0) reader.is_animated_ = true;
    return 1;
  }
  // Warnings are about chunks that nobody looks at; a flaw in the image itself is an error.
  static void OnWarning(png_structp, png_const_charp) {}
  static void OnRead(png_structp png, png_bytep out, size_t size) {
    PngReader& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > reader.bytes_.size() - reader.offset_) png_error(png, "the file is truncated");
    std::memcpy(out, reader.bytes_.data() + reader.offset_, size);
    reader.offset_ += size;
  }
  static png_voidp OnAllocate(png_structp png, png_alloc_size_t size) {
    void* memory = std::malloc(size);
    if (memory == nullptr) static_cast<PngReader*>(png_get_mem_ptr(png))->is_out_of_memory_ = true;
    return memory;
  }
  static void OnFree(png_structp, png_voidp memory) { std::free(memory); }
  void Configure();
  void SetTransformations();

  std::string_view bytes_;
  size_t offset_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool is_out_of_memory_ = false;
  bool is_animated_ = false;
  char error_[256] = "libpng could not be started";
};

void PngReader::Configure() {
  png_set_read_fn(png_, this, &OnRead);
  png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // CheckSize has the better words
  // Chunks that nobody looks at (texts, profiles, ...) are never inflated or kept: 128 texts of a
  // few kilobytes each may be a gigabyte of zeros.
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_read_user_chunk_fn(png_, this, &OnIgnoredChunk);
  png_set_chunk_malloc_max(png_, kIgnoredChunkBytesMax);
  png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
  png_set_benign_errors(png_, 1);
}

bool PngReader::ReadHeader() {
  png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, &OnError, &OnWarning, this,
                                  &OnAllocate, &OnFree);
  if (png_ == nullptr) return false;
  info_ = png_create_info_struct(png_);
  if (info_ == nullptr) return false;
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  Configure();
  png_read_info(png_, info_);
  return true;
}

// Converts to RGBA, but leaves palette indices as they are, each as a byte, at the beginning of its
// row: libpng would turn indices outside of the palette into black.
void PngReader::SetTransformations() {
  if (has_palette()) {
    png_set_packing(png_);  // for 1, 2 and 4 bits
  } else {
    png_set_expand(png_);  // for 1, 2 and 4 bits, and tRNS
    png_set_gray_to_rgb(png_);
    png_set_add_alpha(png_, 0xffff, PNG_FILLER_AFTER);
  }
  if (is_16_bit()) png_set_swap(png_);  // little-endian
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
}

bool PngReader::ReadRows(png_bytepp rows) {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  SetTransformations();
  const size_t texel_bytes = has_palette() ? 1 : is_16_bit() ? 8 : 4;
  if (png_get_rowbytes(png_, info_) != width() * texel_bytes)
    png_error(png_, "unexpected row size");
  png_read_image(png_, rows);
  png_read_end(png_, nullptr);
  return true;
}

absl::Status PngReader::ApplyPalette(std::vector<uint8_t>& texels) {
  png_colorp colors = nullptr;
  int colors_count = 0;
  png_bytep alphas = nullptr;
  int alphas_count = 0;
  png_get_PLTE(png_, info_, &colors, &colors_count);
  png_get_tRNS(png_, info_, &alphas, &alphas_count, nullptr);
  for (uint32_t y = 0; y < height(); ++y) {
    uint8_t* const row = texels.data() + size_t{y} * width() * 4;
    for (size_t x = width(); x-- > 0;) {  // from the end, so that only read bytes are overwritten
      const int index = row[x];
      if (index >= colors_count) {
        return VerdictError("the file is corrupt: a texel has colour {}, and the palette holds {}",
                            index, colors_count);
      }
      uint8_t* const out = row + x * 4;
      out[0] = colors[index].red;
      out[1] = colors[index].green;
      out[2] = colors[index].blue;
      out[3] = index < alphas_count ? alphas[index] : uint8_t{255};
    }
  }
  return absl::OkStatus();
}

// Checks the sides before libpng does, whose words for a side of 0 or 2^31 do not name the flaw.
absl::Status CheckSides(std::string_view bytes, const DecodeOptions& options) {
  constexpr size_t kNameAt = 12;  // behind the signature and the chunk's length
  constexpr size_t kSidesAt = 16;
  if (bytes.size() < kSidesAt + 8 || bytes.substr(kNameAt, 4) != "IHDR") return absl::OkStatus();
  const auto* sides = reinterpret_cast<png_const_bytep>(bytes.data() + kSidesAt);
  const uint32_t width = png_get_uint_32(sides);
  const uint32_t height = png_get_uint_32(sides + 4);
  const bool is_allowed = width - 1 < kSideMax && height - 1 < kSideMax;  // 0 wraps
  return is_allowed ? absl::OkStatus() : CheckSize(width, height, 1, options);
}

absl::Status CheckPlausible(const PngReader& reader, size_t file_bytes) {
  const uint64_t raw_bytes =
      uint64_t{reader.width()} * reader.height() * reader.bits_per_texel() / 8;
  if (raw_bytes / kDeflateRatioMax <= file_bytes) return absl::OkStatus();
  return VerdictError(
      "the file is truncated: an image of {} x {} takes at least {} bytes, the file has {}",
      reader.width(), reader.height(), raw_bytes / kDeflateRatioMax, file_bytes);
}

template <typename T>
absl::StatusOr<std::vector<T>> ReadTexels(PngReader& reader) {
  const size_t row_entries = size_t{reader.width()} * 4;
  std::vector<T> texels(row_entries * reader.height());
  std::vector<png_bytep> rows(reader.height());
  for (size_t y = 0; y < rows.size(); ++y)
    rows[y] = reinterpret_cast<png_bytep>(texels.data() + y * row_entries);
  if (!reader.ReadRows(rows.data())) return reader.Error();
  return texels;
}

}  // namespace

absl::StatusOr<Decoded> DecodePng(std::string_view bytes, const DecodeOptions& options) {
  RETURN_IF_ERROR(CheckSides(bytes, options));
  PngReader reader(bytes);
  if (!reader.ReadHeader()) return reader.Error();
  RETURN_IF_ERROR(CheckSize(reader.width(), reader.height(), reader.is_16_bit() ? 2 : 1, options));
  Decoded decoded;
  decoded.image.width = reader.width();
  decoded.image.height = reader.height();
  if (options.header_only) {
    decoded.image.has_alpha = reader.has_alpha();
    decoded.is_grey = reader.is_grey();
    decoded.has_palette = reader.has_palette();
    return decoded;
  }
  RETURN_IF_ERROR(CheckPlausible(reader, bytes.size()));
  if (reader.is_16_bit()) {
    ASSIGN_OR_RETURN(decoded.image.texels, ReadTexels<uint16_t>(reader));
  } else {
    ASSIGN_OR_RETURN(std::vector<uint8_t> texels, ReadTexels<uint8_t>(reader));
    if (reader.has_palette()) RETURN_IF_ERROR(reader.ApplyPalette(texels));
    decoded.image.texels = std::move(texels);
  }
  if (reader.is_animated()) {
    decoded.warnings.push_back(
        "the file is an animation (APNG); only its still image is read, which viewers without "
        "animation show");
  }
  return decoded;
}

}  // namespace galley::worker::texture
