// HDR: Radiance pictures of 32-bit RGBE texels, flat and in both kinds of run lengths, rows from
// either end. A channel is its mantissa times 2^(exponent - 136), exactly; EXPOSURE and COLORCORR
// are not applied. We do not use stb_image 2.27, which hangs at the end of a file that is cut off
// within a run.
// Source: Radiance reference manual, "File Formats", "RADIANCE Picture File Format".
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "worker/cookers/texture/byte_reader.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

constexpr uint32_t kRunRowMin = 8;
constexpr uint32_t kRunRowMax = 32'767;
constexpr uint8_t kRunMark = 2;
constexpr uint64_t kRowBytesMin = 4;

struct HdrHeader {
  uint32_t width = 0;
  uint32_t height = 0;
  bool is_from_bottom = false;
  bool is_from_right = false;
  size_t image_offset = 0;
};

// The file's own words, made fit for an error message.
std::string Quotable(std::string_view bytes) { return EscapeInvalidUtf8(EscapeControl(bytes)); }

// Takes the line at the front of `rest`; nullopt: it has no end.
std::optional<std::string_view> TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

// Takes "-Y 12 " from "-Y 12 +X 34": an axis with its sign, and a size.
bool TakeAxis(std::string_view& line, char axis, bool& is_plus, uint32_t& size) {
  if (line.size() < 4 || (line[0] != '-' && line[0] != '+') || line[1] != axis || line[2] != ' ')
    return false;
  is_plus = line[0] == '+';
  line.remove_prefix(3);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  while (line.starts_with(' ')) line.remove_prefix(1);
  return true;
}

absl::Status ParseResolution(std::string_view line, HdrHeader& header) {
  std::string_view rest = line;
  bool is_x_plus = true;
  if (TakeAxis(rest, 'Y', header.is_from_bottom, header.height) &&
      TakeAxis(rest, 'X', is_x_plus, header.width) && rest.empty()) {
    header.is_from_right = !is_x_plus;
    return absl::OkStatus();
  }
  return VerdictError(
      "expected a line such as \"-Y 512 +X 1024\" after the header, not \"{}\"; pictures that lie "
      "on their side (X first) are not supported",
      Quotable(line.substr(0, 40)));
}

absl::StatusOr<HdrHeader> ParseHeader(std::string_view bytes) {
  constexpr std::string_view kFormat = "FORMAT=";
  HdrHeader header;
  std::string_view rest = bytes;
  for (std::optional<std::string_view> line = TakeLine(rest); line && !line->empty();
       line = TakeLine(rest)) {
    if (line->starts_with(kFormat) && *line != "FORMAT=32-bit_rle_rgbe") {
      return VerdictError("expected texels of 32-bit_rle_rgbe, not \"{}\"",
                          Quotable(line->substr(kFormat.size(), 40)));
    }
  }
  const std::optional<std::string_view> resolution = TakeLine(rest);
  if (!resolution) return VerdictError("the file is truncated");
  RETURN_IF_ERROR(ParseResolution(*resolution, header));
  header.image_offset = bytes.size() - rest.size();
  return header;
}

absl::Status Corrupt(uint32_t row) {
  return VerdictError("the file is corrupt: a run goes past the end of row {}", row);
}

// Reads rows of RGBE, in the order of the file.
class RowReader {
 public:
  RowReader(std::string_view image, uint32_t width) : reader_(image), row_(size_t{width} * 4) {}

  absl::Status Read(uint32_t row) {
    const uint32_t width = static_cast<uint32_t>(row_.size() / 4);
    uint8_t* const first = row_.data();
    for (size_t i = 0; i < 4; ++i) first[i] = reader_.Get8();
    const bool is_new_run = width >= kRunRowMin && width <= kRunRowMax && first[0] == kRunMark &&
                            first[1] == kRunMark && first[2] < 128;
    if (is_new_run && (uint32_t{first[2]} << 8 | first[3]) != width)
      return VerdictError("the file is corrupt: row {} has a length of its own", row);
    RETURN_IF_ERROR(is_new_run ? ReadChannels(row) : ReadTexels(row));
    return reader_.is_truncated() ? VerdictError("the file is truncated") : absl::OkStatus();
  }
  const uint8_t* texel(size_t x) const { return row_.data() + x * 4; }

 private:
  // Reads a row channel by channel; a byte above 128 announces a run.
  absl::Status ReadChannels(uint32_t row) {
    const size_t width = row_.size() / 4;
    for (size_t channel = 0; channel < 4; ++channel) {
      for (size_t x = 0; x < width && !reader_.is_truncated();) {
        const uint8_t code = reader_.Get8();
        const bool is_run = code > 128;
        const size_t length = is_run ? code - 128u : code;
        if (length > width - x) return Corrupt(row);
        uint8_t value = is_run ? reader_.Get8() : uint8_t{0};
        for (size_t end = x + length; x < end; ++x) {
          if (!is_run) value = reader_.Get8();
          row_[x * 4 + channel] = value;
        }
      }
    }
    return absl::OkStatus();
  }
  // Reads a row texel by texel; the first texel is there. (1, 1, 1, n) repeats the texel before n
  // times, and a repeat right behind it repeats it 256 n times.
  absl::Status ReadTexels(uint32_t row) {
    const size_t width = row_.size() / 4;
    unsigned shift = 0;
    std::array<uint8_t, 4> texel{row_[0], row_[1], row_[2], row_[3]};
    for (size_t x = 0; x < width && !reader_.is_truncated();) {
      if (x > 0) {
        for (uint8_t& value : texel) value = reader_.Get8();
      }
      if (texel[0] == 1 && texel[1] == 1 && texel[2] == 1) {
        if (x == 0 || shift > 16) return Corrupt(row);
        const size_t length = size_t{texel[3]} << shift;
        if (length > width - x) return Corrupt(row);
        for (size_t end = x + length; x < end; ++x)
          std::copy_n(row_.begin() + static_cast<ptrdiff_t>(x * 4 - 4), 4,
                      row_.begin() + static_cast<ptrdiff_t>(x * 4));
        shift += 8;
      } else {
        std::ranges::copy(texel, row_.begin() + static_cast<ptrdiff_t>(x * 4));
        shift = 0;
        ++x;
      }
    }
    return absl::OkStatus();
  }

  ByteReader reader_;
  std::vector<uint8_t> row_;
};

// 2^(exponent - 136), and 0 for exponent 0. Computed by products, which are exact: no libm.
std::array<float, 256> MakeScales() {
  std::array<float, 256> scales{};
  double scale = 0x1p-135;
  for (size_t exponent = 1; exponent < scales.size(); ++exponent, scale *= 2.0)
    scales[exponent] = static_cast<float>(scale);
  return scales;
}

absl::StatusOr<std::vector<float>> ReadRows(std::string_view image, const HdrHeader& header) {
  static const std::array<float, 256> scales = MakeScales();
  std::vector<float> texels(size_t{header.width} * header.height * 4);
  RowReader rows(image, header.width);
  for (uint32_t row = 0; row < header.height; ++row) {
    RETURN_IF_ERROR(rows.Read(row));
    const uint32_t y = header.is_from_bottom ? header.height - 1 - row : row;
    for (uint32_t x = 0; x < header.width; ++x) {
      const uint8_t* rgbe = rows.texel(header.is_from_right ? header.width - 1 - x : x);
      float* out = texels.data() + (size_t{y} * header.width + x) * 4;
      for (size_t c = 0; c < 3; ++c) out[c] = static_cast<float>(rgbe[c]) * scales[rgbe[3]];
      out[3] = 1.0f;
    }
  }
  return texels;
}

}  // namespace

absl::StatusOr<Decoded> DecodeHdr(std::string_view bytes, const DecodeOptions& options) {
  ASSIGN_OR_RETURN(const HdrHeader header, ParseHeader(bytes));
  RETURN_IF_ERROR(CheckSize(header.width, header.height, sizeof(float), options));
  Decoded decoded;
  decoded.image.width = header.width;
  decoded.image.height = header.height;
  if (options.header_only) return decoded;
  const std::string_view image = bytes.substr(header.image_offset);
  if (header.height * kRowBytesMin > image.size()) return VerdictError("the file is truncated");
  ASSIGN_OR_RETURN(decoded.image.texels, ReadRows(image, header));
  return decoded;
}

}  // namespace galley::worker::texture
