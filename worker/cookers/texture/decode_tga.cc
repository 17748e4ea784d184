// TGA: true colour, grey and colour maps, plain and run-length coded, from any of the four corners.
// We do not use stb_image 2.27, which mirrors nothing, misplaces colour maps and lets indices
// outside of them pass.
// Source: Truevision TGA File Format Specification 2.0, sections "TGA file header" and "image
// types".
#include <array>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/byte_reader.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

using Rgba = std::array<uint8_t, 4>;

enum class TgaKind { kMapped = 1, kTrueColor = 2, kGrey = 3 };
constexpr uint8_t kRunLengthBit = 8;
constexpr uint64_t kRunMax = 128;

struct TgaHeader {
  uint8_t id_bytes = 0;
  bool has_map = false;
  TgaKind kind = TgaKind::kTrueColor;
  bool is_run_length = false;
  uint16_t map_first = 0;  // the index of the map's first entry
  uint16_t map_count = 0;
  uint8_t map_bits = 0;
  uint16_t width = 0;
  uint16_t height = 0;
  uint8_t bits = 0;
  uint8_t alpha_bits = 0;
  bool is_from_right = false;
  bool is_from_top = false;
  uint8_t interleaving = 0;
};

uint64_t BytesOf(uint8_t bits) { return (uint64_t{bits} + 7) / 8; }

TgaHeader ReadHeader(ByteReader& reader) {
  TgaHeader header;
  header.id_bytes = reader.Get8();
  header.has_map = reader.Get8() != 0;
  const uint8_t kind = reader.Get8();
  header.is_run_length = (kind & kRunLengthBit) != 0;
  header.kind = static_cast<TgaKind>(kind & ~kRunLengthBit);
  header.map_first = reader.Get16();
  header.map_count = reader.Get16();
  header.map_bits = reader.Get8();
  reader.Skip(4);  // the place on a screen
  header.width = reader.Get16();
  header.height = reader.Get16();
  header.bits = reader.Get8();
  const uint8_t flags = reader.Get8();
  header.alpha_bits = flags & 15;
  header.is_from_right = (flags & 0x10) != 0;
  header.is_from_top = (flags & 0x20) != 0;
  header.interleaving = flags >> 6;
  return header;
}

bool IsColorBits(uint8_t bits) { return bits == 15 || bits == 16 || bits == 24 || bits == 32; }

absl::Status CheckHeader(const TgaHeader& header) {
  const auto refuse = [](std::string_view what, int value) {
    return VerdictError("the file is corrupt or of an unsupported kind: {} {}", what, value);
  };
  // Version 1.0 has interleaving: rows in two or four passes. Version 2.0 demands 0.
  if (header.interleaving != 0) return refuse("interleaving", header.interleaving);
  switch (header.kind) {
    case TgaKind::kMapped:
      if (!header.has_map || header.map_count == 0)
        return VerdictError("the file is corrupt: it has no colour map");
      if (header.bits != 8 && header.bits != 16) return refuse("bits of an index:", header.bits);
      if (!IsColorBits(header.map_bits))
        return refuse("bits of a colour map's entry:", header.map_bits);
      return absl::OkStatus();
    case TgaKind::kTrueColor:
      return IsColorBits(header.bits) ? absl::OkStatus() : refuse("bits of a texel:", header.bits);
    case TgaKind::kGrey:
      return header.bits == 8 || header.bits == 16 ? absl::OkStatus()
                                                   : refuse("bits of a grey texel:", header.bits);
  }
  return refuse("image type", static_cast<int>(header.kind));
}

// Checks the length before anything is allocated. A run-length packet is a byte and a texel, and
// makes at most kRunMax texels.
absl::Status CheckLength(const TgaHeader& header, const ByteReader& reader) {
  const uint64_t map_bytes = header.has_map ? header.map_count * BytesOf(header.map_bits) : 0;
  const uint64_t texels_count = uint64_t{header.width} * header.height;
  const uint64_t image_bytes =
      header.is_run_length ? (texels_count + kRunMax - 1) / kRunMax * (1 + BytesOf(header.bits))
                           : texels_count * BytesOf(header.bits);
  const uint64_t wanted = header.id_bytes + map_bytes + image_bytes;
  if (wanted <= reader.bytes_left()) return absl::OkStatus();
  return VerdictError("the file is truncated: it should have at least {} bytes and has {}",
                      reader.offset() + wanted, reader.offset() + reader.bytes_left());
}

uint8_t Expand5(uint32_t value) { return static_cast<uint8_t>(((value & 31) * 255 + 15) / 31); }

Rgba ReadColor(ByteReader& reader, uint8_t bits, bool has_alpha_bit) {
  if (bits <= 16) {
    const uint32_t value = reader.Get16();
    const bool is_clear = bits == 16 && has_alpha_bit && (value & 0x8000) == 0;
    return {Expand5(value >> 10), Expand5(value >> 5), Expand5(value),
            is_clear ? uint8_t{0} : uint8_t{255}};
  }
  const uint8_t blue = reader.Get8();
  const uint8_t green = reader.Get8();
  const uint8_t red = reader.Get8();
  return {red, green, blue, bits == 32 ? reader.Get8() : uint8_t{255}};
}

class TgaReader {
 public:
  TgaReader(const TgaHeader& header, ByteReader& reader) : header_(header), reader_(reader) {}

  void ReadMap() {
    reader_.Skip(header_.id_bytes);
    if (!header_.has_map) return;
    if (header_.kind != TgaKind::kMapped)
      return reader_.Skip(header_.map_count * BytesOf(header_.map_bits));
    for (uint32_t i = 0; i < header_.map_count; ++i)
      map_.push_back(ReadColor(reader_, header_.map_bits, header_.alpha_bits > 0));
  }
  absl::StatusOr<std::vector<uint8_t>> ReadTexels();

 private:
  absl::StatusOr<Rgba> ReadTexel();
  size_t PlaceOf(uint64_t index) const {
    const uint64_t x = index % header_.width;
    const uint64_t y = index / header_.width;
    return ((header_.is_from_top ? y : header_.height - 1 - y) * header_.width +
            (header_.is_from_right ? header_.width - 1 - x : x)) *
           4;
  }

  const TgaHeader& header_;
  ByteReader& reader_;
  std::vector<Rgba> map_;
};

absl::StatusOr<Rgba> TgaReader::ReadTexel() {
  switch (header_.kind) {
    case TgaKind::kTrueColor:
      return ReadColor(reader_, header_.bits, header_.alpha_bits > 0);
    case TgaKind::kGrey: {
      const uint8_t grey = reader_.Get8();
      return Rgba{grey, grey, grey, header_.bits == 16 ? reader_.Get8() : uint8_t{255}};
    }
    case TgaKind::kMapped:
      break;
  }
  const uint32_t index = header_.bits == 8 ? reader_.Get8() : reader_.Get16();
  if (index >= header_.map_first && index - header_.map_first < map_.size())
    return map_[index - header_.map_first];
  return VerdictError("the file is corrupt: a texel has colour {}, and the map holds {} to {}",
                      index, header_.map_first, header_.map_first + map_.size() - 1);
}

absl::StatusOr<std::vector<uint8_t>> TgaReader::ReadTexels() {
  const uint64_t texels_count = uint64_t{header_.width} * header_.height;
  std::vector<uint8_t> texels(texels_count * 4);
  for (uint64_t i = 0; i < texels_count && !reader_.is_truncated();) {
    const uint8_t packet = header_.is_run_length ? reader_.Get8() : uint8_t{0};
    const uint64_t length = uint64_t{packet & 127u} + 1;
    if (length > texels_count - i)
      return VerdictError("the file is corrupt: a run goes past the end of the image");
    const bool is_run = packet >= 128;
    Rgba texel{};
    for (uint64_t k = 0; k < length; ++k, ++i) {
      if (k == 0 || !is_run) {
        ASSIGN_OR_RETURN(texel, ReadTexel());
      }
      std::ranges::copy(texel, texels.begin() + static_cast<ptrdiff_t>(PlaceOf(i)));
    }
  }
  if (reader_.is_truncated()) return VerdictError("the file is truncated");
  return texels;
}

}  // namespace

absl::StatusOr<Decoded> DecodeTga(std::string_view bytes, const DecodeOptions& options) {
  ByteReader reader(bytes);
  const TgaHeader header = ReadHeader(reader);
  if (reader.is_truncated()) return VerdictError("the file is truncated");
  RETURN_IF_ERROR(CheckHeader(header));
  RETURN_IF_ERROR(CheckSize(header.width, header.height, 1, options));
  Decoded decoded;
  decoded.image.width = header.width;
  decoded.image.height = header.height;
  decoded.image.has_alpha = header.bits == 32 || header.map_bits == 32;
  decoded.is_grey = header.kind == TgaKind::kGrey;
  if (options.header_only) return decoded;
  RETURN_IF_ERROR(CheckLength(header, reader));
  TgaReader image(header, reader);
  image.ReadMap();
  ASSIGN_OR_RETURN(std::vector<uint8_t> texels, image.ReadTexels());
  // Writers that leave the fourth byte unused have 0 in alpha_bits, but others forget to set it.
  if (header.alpha_bits == 0) MakeOpaqueWhenAllIsClear(texels);
  decoded.image.texels = std::move(texels);
  return decoded;
}

}  // namespace galley::worker::texture
