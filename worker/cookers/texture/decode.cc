#include "worker/cookers/texture/decode.h"

#include <type_traits>

#include "absl/strings/ascii.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/source/foreign_source.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

// PBM, PGM and PPM begin with P1 to P6, as text or as bytes, and white space.
bool IsPnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         std::string_view(" \t\r\n").find(bytes[2]) != std::string_view::npos;
}

bool IsRead(std::string_view format) {
  return format == "png" || format == "jpg" || format == "tga" || format == "bmp" ||
         format == "hdr";
}

// The format that the first bytes announce; empty: they announce no known format.
std::string_view SniffFormat(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "png";
  if (bytes.starts_with("\xff\xd8\xff")) return "jpg";
  if (bytes.starts_with("BM")) return "bmp";
  if (bytes.starts_with("#?RADIANCE") || bytes.starts_with("#?RGBE")) return "hdr";
  if (bytes.starts_with("GIF8")) return "gif";
  if (bytes.starts_with("8BPS")) return "psd";
  if (bytes.starts_with(std::string_view("II*\0", 4)) ||
      bytes.starts_with(std::string_view("MM\0*", 4)))
    return "tiff";
  if (bytes.starts_with("\x76\x2f\x31\x01")) return "exr";
  if (IsPnm(bytes)) return "pnm";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "webp";
  if (bytes.starts_with("DDS ")) return "dds";
  return {};
}

absl::Status CheckSignature(std::string_view format, std::string_view bytes) {
  if (bytes.empty()) return VerdictError("the file is empty");
  RETURN_IF_ERROR(CheckNoLfsPointer(bytes));
  const std::string_view found = SniffFormat(bytes);
  if (found == format || (format == "tga" && (found.empty() || found == "bmp")))
    return absl::OkStatus();
  if (found.empty()) return ForeignSource(format, bytes);
  if (IsRead(found)) return VerdictError("the file is a {0}; name it .{0}, or convert it", found);
  return VerdictError("the file is a {}; convert it to png, jpg, tga, bmp or hdr, or {}", found,
                      kOtherCookers);
}

template <typename T>
bool HasAlpha(const std::vector<T>& texels) {
  const T opaque = std::is_floating_point_v<T> ? T{1} : static_cast<T>(-1);
  for (size_t i = 3; i < texels.size(); i += 4) {
    if (texels[i] < opaque) return true;
  }
  return false;
}

absl::StatusOr<Decoded> DecodeAs(std::string_view format, std::string_view bytes,
                                 const DecodeOptions& options) {
  RETURN_IF_ERROR(CheckSignature(format, bytes));
  if (format == "png") return DecodePng(bytes, options);
  if (format == "jpg") return DecodeJpeg(bytes, options);
  if (format == "tga") return DecodeTga(bytes, options);
  if (format == "bmp") return DecodeBmp(bytes, options);
  return DecodeHdr(bytes, options);
}

}  // namespace

absl::Status CheckSize(uint64_t width, uint64_t height, uint64_t channel_bytes,
                       const DecodeOptions& options) {
  if (width == 0 || height == 0 || width > kSideMax || height > kSideMax) {
    return VerdictError("the image is {} x {}; each side must be from 1 to {} texels", width,
                        height, kSideMax);
  }
  const uint64_t decoded_bytes = width * height * 4 * channel_bytes * options.images_count;
  const std::string layers =
      options.images_count == 1 ? "" : fmt::format(" and one of {} layers", options.images_count);
  const std::string size =
      fmt::format("the image is {} x {} (RGBA, {} bits a channel){}: {} bytes decoded", width,
                  height, channel_bytes * 8, layers, decoded_bytes);
  if (decoded_bytes > kDecodedBytesMax) {
    return VerdictError("{}, above the limit of {}; make it smaller or split it", size,
                        kDecodedBytesMax);
  }
  if (decoded_bytes > options.memory_bytes_max / 4) {
    return OutOfMemoryError(
        "{}, above a quarter of the job's memory ({} bytes); raise `memory` in its rule", size,
        options.memory_bytes_max);
  }
  return absl::OkStatus();
}

void MakeOpaqueWhenAllIsClear(std::vector<uint8_t>& texels) {
  for (size_t i = 3; i < texels.size(); i += 4) {
    if (texels[i] != 0) return;
  }
  for (size_t i = 3; i < texels.size(); i += 4) texels[i] = 255;
}

absl::StatusOr<Decoded> Decode(std::string_view extension, std::string_view bytes,
                               const DecodeOptions& options) {
  const std::string_view format = extension == "jpeg" ? "jpg" : extension;
  if (!IsRead(format)) {
    return VerdictError("texture: expected a png, jpg, jpeg, tga, bmp or hdr file, not .{}",
                        extension);
  }
  absl::StatusOr<Decoded> decoded = DecodeAs(format, bytes, options);
  if (!decoded.ok()) return Annotate(decoded.status(), format);
  if (options.header_only) return decoded;
  decoded->image.has_alpha =
      std::visit([](const auto& texels) { return HasAlpha(texels); }, decoded->image.texels);
  return decoded;
}

std::string FindImageFlaw(std::string_view extension, std::string_view bytes) {
  const std::string_view format = extension == "jpeg" ? "jpg" : extension;
  const std::string_view found = SniffFormat(bytes);
  if (found == format) return "";
  return MisnamedFlaw(extension, bytes,
                      found == "jpg" ? "JPEG" : absl::AsciiStrToUpper(std::string(found)));
}

}  // namespace galley::worker::texture
