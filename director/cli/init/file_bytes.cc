#include "director/cli/init/file_bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "fmt/format.h"

namespace galley::init {
namespace {

using std::string_view_literals::operator""sv;

constexpr auto kPng = "\x89PNG\r\n\x1a\n"sv;

uint32_t Byte(std::string_view bytes, size_t at) {
  return at < bytes.size() ? static_cast<uint8_t>(bytes[at]) : 0;
}
uint32_t Little16(std::string_view bytes, size_t at) {
  return Byte(bytes, at) | Byte(bytes, at + 1) << 8;
}
uint32_t Little32(std::string_view bytes, size_t at) {
  return Little16(bytes, at) | Little16(bytes, at + 2) << 16;
}
uint32_t Big16(std::string_view bytes, size_t at) {
  return Byte(bytes, at) << 8 | Byte(bytes, at + 1);
}

// The format that the bytes announce, when another name would be right for them; "" when they
// announce none.
std::string_view Announced(std::string_view head) {
  constexpr std::pair<std::string_view, std::string_view> kMagic[] = {
      {kPng, "a PNG"},
      {"\xff\xd8\xff"sv, "a JPEG"},
      {"GIF8"sv, "a GIF"},
      {"8BPS"sv, "a PSD"},
      {"II*\0"sv, "a TIFF"},
      {"MM\0*"sv, "a TIFF"},
      {"\x76\x2f\x31\x01"sv, "an EXR"},
      {"#?RADIANCE"sv, "a Radiance HDR"},
      {"#?RGBE"sv, "a Radiance HDR"},
      {"DDS "sv, "a DDS"},
      {"\xabKTX 11"sv, "a KTX"},
      {"\xabKTX 20"sv, "a KTX2"},
      {"OggS"sv, "an Ogg file"},
      {"fLaC"sv, "a FLAC"},
      {"ID3"sv, "an MP3"},
      {"RF64"sv, "a WAV of 64 bits (RF64)"},
      {"RIFX"sv, "a big-endian WAV (RIFX)"},
      {"riff"sv, "a Wave64"},
      {"FORM"sv, "an AIFF"},
      {".snd"sv, "an AU"},
      {"PK\x03\x04"sv, "a ZIP"},
      {"\x1f\x8b"sv, "compressed by gzip"},
  };
  if (head.starts_with("RIFF") && head.substr(8).starts_with("WEBP")) return "a WebP";
  if (head.starts_with("RIFF") && head.substr(8).starts_with("WAVE")) return "a WAV";
  for (const auto& [magic, name] : kMagic) {
    if (head.starts_with(magic)) return name;
  }
  return "";
}

std::string Misnamed(std::string_view extension, std::string_view head) {
  if (head.empty()) return "empty";
  const std::string_view found = Announced(head);
  if (!found.empty()) return fmt::format("{} under the name .{}", found, extension);
  return fmt::format("not what .{} files begin with", extension);
}

// The frame header of a JPEG: bits and components.
// Source: ITU-T T.81, B.2.2.
struct JpegFrame {
  uint32_t width = 0, height = 0;
  uint32_t bits = 8;
  uint32_t components = 3;
};
std::optional<JpegFrame> FindJpegFrame(std::string_view head) {
  size_t at = 2;
  while (at + 9 < head.size() && Byte(head, at) == 0xff) {
    const uint32_t marker = Byte(head, at + 1);
    const bool is_frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame)
      return JpegFrame{.width = Big16(head, at + 7),
                       .height = Big16(head, at + 5),
                       .bits = Byte(head, at + 4),
                       .components = Byte(head, at + 9)};
    if (marker == 0xff) {
      ++at;
    } else {
      at += 2 + Big16(head, at + 2);
    }
  }
  return std::nullopt;
}

// "-Y 512 +X 1024".
// Source: Radiance file formats, picture format.
std::optional<ImageSize> HdrSize(std::string_view head) {
  ImageSize size;
  const size_t at = head.find("\n-Y ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string line(head.substr(at + 1, 64));
  if (std::sscanf(line.c_str(), "-Y %lu +X %lu", &size.height, &size.width) != 2)
    return std::nullopt;
  return size;
}

std::string WhyNoPng(std::string_view head) {
  if (head.substr(12, 4) == "CgBI") return "a PNG in Apple's own form (CgBI)";
  return head.substr(12, 4) == "IHDR" ? "" : "a PNG without its header";
}

std::string WhyNoJpeg(std::string_view head) {
  const std::optional<JpegFrame> frame = FindJpegFrame(head);
  if (!frame) return "";
  if (frame->components == 4) return "a JPEG in CMYK: convert it to RGB to have it cooked";
  return frame->bits == 8 ? "" : fmt::format("a JPEG of {} bits a channel", frame->bits);
}

// TGA has no magic: its header must make sense.
// Source: Truevision TGA 2.0, header fields 2 to 5.
std::string WhyNoTga(std::string_view head) {
  const std::string_view found = Announced(head);
  if (!found.empty() || head.size() < 18) return Misnamed("tga", head);
  const uint32_t type = Byte(head, 2);
  const uint32_t depth = Byte(head, 16);
  const bool has_known_type = (type >= 1 && type <= 3) || (type >= 9 && type <= 11);
  const bool has_known_depth =
      depth == 8 || depth == 15 || depth == 16 || depth == 24 || depth == 32;
  if (Byte(head, 1) <= 1 && has_known_type && has_known_depth) return "";
  return Misnamed("tga", head);
}

// Sizes of the headers that the cooker knows (docs/cookers/texture.md).
std::string WhyNoBmp(std::string_view head) {
  if (!head.starts_with("BM") || head.size() < 26) return Misnamed("bmp", head);
  const uint32_t size = Little32(head, 14);
  if (size == 12 || (size >= 40 && size <= 124)) return "";
  return fmt::format("a BMP with a header of {} bytes, which is of OS/2 2.x", size);
}

std::string WhyNoWav(std::string_view head) {
  if (Announced(head) != "a WAV") return Misnamed("wav", head);
  size_t at = 12;
  while (at + 8 <= head.size()) {
    if (head.substr(at, 4) == "fmt ") {
      const uint32_t format = Little16(head, at + 8);
      // A sound of WAVE_FORMAT_EXTENSIBLE says its format in the first bytes of its GUID.
      const uint32_t used = format == 0xfffe ? Little16(head, at + 8 + 24) : format;
      if (used == 1 || used == 3) return "";
      return fmt::format("a compressed WAV (format {:#x})", used);
    }
    at += 8 + size_t{Little32(head, at + 4)};
    at += at % 2;
  }
  return "";  // an odd order of chunks: the cooker says more
}

// Length of a page from its head.
// Source: RFC 3533, 6.
size_t OggPageSize(std::string_view page) {
  const size_t segments = Byte(page, 26);
  size_t size = 27 + segments;
  for (size_t i = 0; i < segments; ++i) size += Byte(page, 27 + i);
  return size;
}

std::string WhyNoOgg(std::string_view extension, std::string_view head) {
  if (!head.starts_with("OggS")) return Misnamed(extension, head);
  const size_t first_size = OggPageSize(head);
  const std::string_view second = head.substr(std::min(head.size(), first_size));
  if (second.starts_with("OggS") && (Byte(second, 5) & 2) != 0)
    return "an Ogg file of several streams";
  const std::string_view packet = head.substr(std::min(head.size(), size_t{27} + Byte(head, 26)));
  if (packet.starts_with("\x01vorbis") || packet.starts_with("OpusHead")) return "";
  if (packet.starts_with("\x80theora")) return "an Ogg video (Theora)";
  if (packet.starts_with("Speex")) return "an Ogg file that holds Speex";
  if (packet.starts_with("\x7f"
                         "FLAC"))
    return "an Ogg file that holds FLAC";
  return "an Ogg file that holds neither Vorbis nor Opus";
}

std::string WhyNoFlac(std::string_view head) {
  if (head.starts_with("fLaC")) return "";
  // Some programs put an ID3v2 tag in front.
  if (head.starts_with("ID3") && head.find("fLaC") != std::string_view::npos) return "";
  return Misnamed("flac", head);
}

bool IsPe(std::string_view head) {
  return head.starts_with("MZ") &&
         head.substr(std::min<size_t>(head.size(), Little32(head, 60))).starts_with("PE\0\0"sv);
}

bool IsMachO(std::string_view head) {
  return head.starts_with("\xfe\xed\xfa\xce") || head.starts_with("\xfe\xed\xfa\xcf") ||
         head.starts_with("\xce\xfa\xed\xfe") || head.starts_with("\xcf\xfa\xed\xfe");
}

}  // namespace

std::string_view ProgramKind(std::string_view head) {
  if (head.starts_with("\x7f"
                       "ELF"))
    return "a program, library or object file (ELF)";
  if (IsPe(head)) return "a program or library (PE)";
  if (IsMachO(head)) return "a program, library or object file (Mach-O)";
  // A universal binary, or a class of Java.
  if (head.starts_with("\xca\xfe\xba\xbe"sv)) return "a program or a class (Mach-O, Java)";
  if (head.starts_with("!<arch>\n")) return "a library of object files (ar)";
  return "";
}

std::string WhyNoTexture(std::string_view extension, std::string_view head) {
  if (extension == "tga") return WhyNoTga(head);
  if (extension == "bmp") return WhyNoBmp(head);
  if (extension == "png")
    return head.starts_with(kPng) ? WhyNoPng(head) : Misnamed(extension, head);
  if (extension == "hdr")
    return Announced(head) == "a Radiance HDR" ? "" : Misnamed(extension, head);
  return Announced(head) == "a JPEG" ? WhyNoJpeg(head) : Misnamed(extension, head);
}

std::string WhyNoSound(std::string_view extension, std::string_view head) {
  if (extension == "wav") return WhyNoWav(head);
  if (extension == "flac") return WhyNoFlac(head);
  return WhyNoOgg(extension, head);
}

std::optional<ImageSize> ReadImageSize(std::string_view extension, std::string_view head) {
  if (extension == "png" && head.starts_with(kPng)) {
    const uint32_t type = Byte(head, 25);
    const bool has_alpha =
        type == 4 || type == 6 || head.substr(0, 4096).find("tRNS") != std::string_view::npos;
    return ImageSize{Big16(head, 16) << 16 | Big16(head, 18),
                     Big16(head, 20) << 16 | Big16(head, 22), has_alpha};
  }
  if (extension == "tga" && head.size() >= 18)
    return ImageSize{Little16(head, 12), Little16(head, 14), Byte(head, 16) == 32};
  if (extension == "bmp" && head.size() >= 26 && Little32(head, 14) >= 40) {
    const uint32_t height = Little32(head, 22);  // negative: from the top
    return ImageSize{Little32(head, 18), std::min(height, -height), false};
  }
  if (extension == "hdr") return HdrSize(head);
  if (extension != "jpg" && extension != "jpeg") return std::nullopt;
  const std::optional<JpegFrame> frame = FindJpegFrame(head);
  if (!frame) return std::nullopt;
  return ImageSize{frame->width, frame->height, false};
}

bool IsGreyImage(std::string_view extension, std::string_view head) {
  if (extension == "png") return Byte(head, 25) == 0 || Byte(head, 25) == 4;
  if (extension == "tga") return Byte(head, 2) == 3 || Byte(head, 2) == 11;
  if (extension != "jpg" && extension != "jpeg") return false;
  const std::optional<JpegFrame> frame = FindJpegFrame(head);
  return frame && frame->components == 1;
}

bool CannotBeNormalMap(std::string_view extension, std::string_view head) {
  return IsGreyImage(extension, head) || (extension == "png" && Byte(head, 25) == 3);
}

}  // namespace galley::init
