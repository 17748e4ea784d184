// BMP: Windows headers of every version and the header of OS/2 1.x; 1, 2, 4 and 8 bits with a
// palette (plain, RLE4, RLE8), 16, 24 and 32 bits (plain, with masks); rows from either end. We do
// not use stb_image 2.27, which reads stray memory where a texel's colour is outside of the
// palette, and cannot read run lengths.
// Source: Microsoft, "Bitmap Storage", BITMAPINFOHEADER, BITMAPV5HEADER, "Bitmap Compression".
#include <array>
#include <bit>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/byte_reader.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

constexpr size_t kFileHeaderBytes = 14;
constexpr uint32_t kCoreHeaderBytes = 12;
constexpr uint32_t kInfoHeaderBytes = 40;
constexpr uint32_t kMasksHeaderBytes = 52;  // version 2: with three masks
constexpr uint32_t kAlphaHeaderBytes = 56;  // version 3: with four

struct BmpHeader {
  uint32_t data_offset = 0;
  uint32_t header_bytes = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  bool is_from_top = false;
  uint32_t bits = 0;
  uint32_t compression = kPlain;
  uint32_t colors_used = 0;
  std::array<uint32_t, 4> masks{};  // red, green, blue, alpha
  size_t palette_offset = 0;
};

absl::Status Unsupported(std::string_view what, uint64_t value) {
  return VerdictError("the file is corrupt or of an unsupported kind: {} {}", what, value);
}

absl::Status Truncated() { return VerdictError("the file is truncated"); }

absl::Status ReadSizes(ByteReader& reader, BmpHeader& header) {
  if (header.header_bytes == kCoreHeaderBytes) {
    header.width = reader.Get16();
    header.height = reader.Get16();
    return absl::OkStatus();
  }
  header.width = reader.Get32();
  const uint32_t height = reader.Get32();
  header.is_from_top = height > INT32_MAX;  // the height is negative
  header.height = header.is_from_top ? 0u - height : height;
  if (header.width <= INT32_MAX && header.height <= INT32_MAX) return absl::OkStatus();
  return VerdictError("the file is corrupt: its width is {} and its height {}",
                      static_cast<int32_t>(header.width), static_cast<int32_t>(height));
}

void ReadMasks(ByteReader& reader, BmpHeader& header) {
  const bool is_inside = header.header_bytes >= kMasksHeaderBytes;
  if (header.compression == kMasks || header.compression == kMasksWithAlpha) {
    for (size_t i = 0; i < 3; ++i) header.masks[i] = reader.Get32();
    const bool has_alpha = is_inside ? header.header_bytes >= kAlphaHeaderBytes
                                     : header.compression == kMasksWithAlpha;
    if (has_alpha) header.masks[3] = reader.Get32();
  } else if (header.bits == 16) {
    header.masks = {31u << 10, 31u << 5, 31u, 0};
  } else if (header.bits == 32) {
    header.masks = {0xffu << 16, 0xffu << 8, 0xffu, 0xffu << 24};
  }
  header.palette_offset = std::max<size_t>(reader.offset(), kFileHeaderBytes + header.header_bytes);
}

absl::Status CheckKind(const BmpHeader& header) {
  const bool is_mapped =
      header.bits == 1 || header.bits == 2 || header.bits == 4 || header.bits == 8;
  if (!is_mapped && header.bits != 16 && header.bits != 24 && header.bits != 32)
    return Unsupported("bits of a texel:", header.bits);
  switch (header.compression) {
    case kPlain:
      return absl::OkStatus();
    case kRle8:
    case kRle4:
      if (header.bits != (header.compression == kRle8 ? 8u : 4u))
        return Unsupported("run lengths with bits of a texel:", header.bits);
      if (header.is_from_top) {
        return VerdictError(
            "the file is corrupt: run lengths begin at the bottom row, and its height is negative");
      }
      return absl::OkStatus();
    case kMasks:
    case kMasksWithAlpha:
      if (header.bits != 16 && header.bits != 32)
        return Unsupported("masks with bits of a texel:", header.bits);
      if ((header.masks[0] | header.masks[1] | header.masks[2]) == 0)
        return VerdictError("the file is corrupt: its masks are empty");
      return absl::OkStatus();
    default:
      return Unsupported("compression", header.compression);
  }
}

absl::StatusOr<BmpHeader> ReadHeader(std::string_view bytes) {
  ByteReader reader(bytes);
  BmpHeader header;
  reader.Skip(10);  // signature, file size, reserved
  header.data_offset = reader.Get32();
  header.header_bytes = reader.Get32();
  const bool is_known =
      header.header_bytes == kCoreHeaderBytes || header.header_bytes == kInfoHeaderBytes ||
      header.header_bytes == kMasksHeaderBytes || header.header_bytes == kAlphaHeaderBytes ||
      header.header_bytes == 108 || header.header_bytes == 124;
  if (reader.is_truncated()) return Truncated();
  if (!is_known) return Unsupported("bytes of the header:", header.header_bytes);
  RETURN_IF_ERROR(ReadSizes(reader, header));
  reader.Skip(2);  // planes
  header.bits = reader.Get16();
  if (header.header_bytes != kCoreHeaderBytes) {
    header.compression = reader.Get32();
    reader.Skip(12);  // image size, resolution
    header.colors_used = reader.Get32();
    reader.Skip(4);  // important colours
  }
  ReadMasks(reader, header);
  if (reader.is_truncated() || header.data_offset > bytes.size()) return Truncated();
  RETURN_IF_ERROR(CheckKind(header));
  if (header.data_offset < header.palette_offset)
    return Unsupported("the image begins within the header, at byte", header.data_offset);
  return header;
}

using Rgba = std::array<uint8_t, 4>;

// Checks the palette of an image with run lengths. A count above the number of texel values, or
// above the room before the image, is an error: only files with other flaws have such counts.
absl::Status CheckPalette(const BmpHeader& header) {
  if (header.compression != kRle8 && header.compression != kRle4) return absl::OkStatus();
  const uint32_t most = 1u << header.bits;
  const size_t room = (header.data_offset - header.palette_offset) / 4;
  if (header.colors_used <= std::min<uint64_t>(most, room)) return absl::OkStatus();
  return VerdictError(
      "the file is corrupt: its palette has {} colours, of which its texels can name {}, and the "
      "file has room for {}",
      header.colors_used, most, room);
}

// Reads as many palette entries as are announced and have room before the image.
std::vector<Rgba> ReadPalette(std::string_view bytes, const BmpHeader& header) {
  const uint32_t entry_bytes = header.header_bytes == kCoreHeaderBytes ? 3 : 4;
  const uint32_t most = 1u << header.bits;
  const uint32_t announced = header.colors_used == 0 ? most : std::min(header.colors_used, most);
  const size_t room = (header.data_offset - header.palette_offset) / entry_bytes;
  ByteReader reader(bytes.substr(header.palette_offset));
  std::vector<Rgba> palette(std::min<size_t>(announced, room));
  for (Rgba& color : palette) {
    const uint8_t blue = reader.Get8();
    const uint8_t green = reader.Get8();
    const uint8_t red = reader.Get8();
    color = {red, green, blue, 255};
    reader.Skip(entry_bytes - 3);
  }
  return palette;
}

uint8_t Extract(uint32_t texel, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const uint64_t most = mask >> shift;
  return static_cast<uint8_t>((((texel & mask) >> shift) * uint64_t{255} + most / 2) / most);
}

class BmpReader {
 public:
  BmpReader(const BmpHeader& header, std::string_view bytes)
      : header_(header), palette_(), reader_(bytes.substr(header.data_offset)) {
    if (header.bits <= 8) palette_ = ReadPalette(bytes, header);
  }
  absl::StatusOr<std::vector<uint8_t>> ReadTexels();

 private:
  bool is_run_length() const {
    return header_.compression == kRle8 || header_.compression == kRle4;
  }
  // Bytes of a row without and with padding.
  uint64_t row_bytes() const { return (uint64_t{header_.width} * header_.bits + 7) / 8; }
  uint64_t stride() const { return (row_bytes() + 3) / 4 * 4; }
  absl::Status CheckLength() const;
  absl::Status ReadRow(uint32_t row);
  absl::Status ReadRuns();
  absl::Status ReadEscape(uint32_t value);
  // Reads the texels of an escape that lists each texel.
  absl::Status ReadLiteral(uint32_t count);
  absl::Status PutRun(uint32_t count, uint32_t packed);
  // Whether each row has ended, or is full.
  bool is_filled() const {
    return row_ >= header_.height || (row_ + 1 == header_.height && x_ == header_.width);
  }
  uint8_t* TexelAt(uint32_t x, uint32_t row) {
    const uint32_t y = header_.is_from_top ? row : header_.height - 1 - row;
    return texels_.data() + (size_t{y} * header_.width + x) * 4;
  }
  absl::Status PutMapped(uint8_t* out, uint32_t index) const {
    if (index >= palette_.size()) {
      return VerdictError("the file is corrupt: a texel has colour {}, and the palette holds {}",
                          index, palette_.size());
    }
    std::ranges::copy(palette_[index], out);
    return absl::OkStatus();
  }
  void PutMasked(uint8_t* out, uint32_t texel) const {
    for (size_t c = 0; c < 3; ++c) out[c] = Extract(texel, header_.masks[c]);
    out[3] = header_.masks[3] == 0 ? uint8_t{255} : Extract(texel, header_.masks[3]);
  }

  const BmpHeader& header_;
  std::vector<Rgba> palette_;
  ByteReader reader_;
  std::vector<uint8_t> texels_;
  uint32_t x_ = 0;  // the place of the next texel of a run-length coded image
  uint32_t row_ = 0;
};

// Two bytes of a run-length coded image make at most 255 texels, but a file may leave out texels.
absl::Status BmpReader::CheckLength() const {
  const uint64_t wanted =
      is_run_length() ? 2 : stride() * (header_.height - uint64_t{1}) + row_bytes();
  return wanted <= reader_.bytes_left() ? absl::OkStatus() : Truncated();
}

absl::Status BmpReader::ReadRow(uint32_t row) {
  uint8_t packed = 0;
  for (uint32_t x = 0; x < header_.width; ++x) {
    uint8_t* const out = TexelAt(x, row);
    if (header_.bits == 24) {
      for (size_t c = 3; c-- > 0;) out[c] = reader_.Get8();
      out[3] = 255;
    } else if (header_.bits > 8) {
      PutMasked(out, header_.bits == 16 ? reader_.Get16() : reader_.Get32());
    } else {
      if (x % (8 / header_.bits) == 0) packed = reader_.Get8();
      RETURN_IF_ERROR(PutMapped(out, packed >> (8 - header_.bits)));
      packed = static_cast<uint8_t>(packed << header_.bits);
    }
  }
  if (row + 1 < header_.height) reader_.Skip(stride() - row_bytes());
  return absl::OkStatus();
}

absl::Status LeavesImage(uint32_t row) {
  return VerdictError("the file is corrupt: a run leaves the image at row {}", row);
}

absl::Status BmpReader::PutRun(uint32_t count, uint32_t packed) {
  if (row_ >= header_.height || count > header_.width - x_) return LeavesImage(row_);
  for (uint32_t i = 0; i < count; ++i, ++x_) {
    const uint32_t index = header_.bits == 8 ? packed : (i % 2 == 0 ? packed >> 4 : packed & 15);
    RETURN_IF_ERROR(PutMapped(TexelAt(x_, row_), index));
  }
  return absl::OkStatus();
}

absl::Status BmpReader::ReadLiteral(uint32_t count) {
  const uint32_t per_byte = 8 / header_.bits;
  for (uint32_t i = 0; i < count; i += per_byte)
    RETURN_IF_ERROR(PutRun(std::min(per_byte, count - i), reader_.Get8()));
  if ((count + per_byte - 1) / per_byte % 2 != 0) reader_.Skip(1);  // up to an even number of bytes
  return absl::OkStatus();
}

constexpr uint32_t kEndOfRow = 0;
constexpr uint32_t kEndOfImage = 1;
constexpr uint32_t kMove = 2;

absl::Status BmpReader::ReadEscape(uint32_t value) {
  switch (value) {
    case kEndOfRow:
      x_ = 0;
      return row_++ < header_.height ? absl::OkStatus() : LeavesImage(row_);
    case kMove:
      x_ += reader_.Get8();
      row_ += reader_.Get8();
      return x_ <= header_.width && row_ < header_.height ? absl::OkStatus() : LeavesImage(row_);
    default:
      return ReadLiteral(value);
  }
}

// Reads runs straight into the texels. Texels that are left out have colour 0. Some writers leave
// out the end of the image, too.
absl::Status BmpReader::ReadRuns() {
  uint8_t* const first = texels_.data();
  RETURN_IF_ERROR(PutMapped(first, 0));
  for (size_t i = 4; i < texels_.size(); i += 4) std::copy_n(first, 4, first + i);
  while (!is_filled() || reader_.bytes_left() >= 2) {
    const uint32_t count = reader_.Get8();
    const uint32_t value = reader_.Get8();
    if (reader_.is_truncated()) return Truncated();
    if (count == 0 && value == kEndOfImage) return absl::OkStatus();
    RETURN_IF_ERROR(count > 0 ? PutRun(count, value) : ReadEscape(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> BmpReader::ReadTexels() {
  RETURN_IF_ERROR(CheckLength());
  texels_.resize(size_t{header_.width} * header_.height * 4);
  if (is_run_length()) {
    RETURN_IF_ERROR(ReadRuns());
  } else {
    for (uint32_t row = 0; row < header_.height; ++row) RETURN_IF_ERROR(ReadRow(row));
  }
  if (reader_.is_truncated()) return Truncated();
  return std::move(texels_);
}

}  // namespace

absl::StatusOr<Decoded> DecodeBmp(std::string_view bytes, const DecodeOptions& options) {
  ASSIGN_OR_RETURN(const BmpHeader header, ReadHeader(bytes));
  RETURN_IF_ERROR(CheckPalette(header));
  RETURN_IF_ERROR(CheckSize(header.width, header.height, 1, options));
  Decoded decoded;
  decoded.image.width = header.width;
  decoded.image.height = header.height;
  if (options.header_only) return decoded;
  ASSIGN_OR_RETURN(std::vector<uint8_t> texels, BmpReader(header, bytes).ReadTexels());
  // Without masks, the fourth byte of 32 bits is unused, or alpha.
  if (header.compression == kPlain) MakeOpaqueWhenAllIsClear(texels);
  decoded.image.texels = std::move(texels);
  return decoded;
}

}  // namespace galley::worker::texture
