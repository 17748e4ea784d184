#include "worker/cookers/audio/wave_file.h"

#include <algorithm>

#include "common/base/hex.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr size_t kFileHeaderSize = 12;
constexpr size_t kChunkHeaderSize = 8;
constexpr size_t kFormatSize = 16;
constexpr size_t kExtensibleSize = 40;
constexpr size_t kSamplerSize = 36;
constexpr size_t kSamplerLoopSize = 24;
constexpr uint32_t kUnknownSize = 0xFFFFFFFF;
constexpr uint32_t kPcm = 1;
constexpr uint32_t kFloat = 3;
constexpr uint32_t kExtensible = 0xFFFE;
constexpr uint32_t kContainerBytes = 4;
constexpr uint32_t kForward = 0;
constexpr std::string_view kKnownNames[] = {"fmt ", "data", "smpl", "LIST", "fact", "cue ",
                                            "inst", "bext", "iXML", "id3 ", "JUNK", "PEAK"};
// The rest of the subformat's GUID, behind the format tag.
constexpr std::string_view kGuidTail{"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71",
                                     14};

// A little-endian number. REQUIRES: its bytes lie within `bytes`.
uint32_t Number(std::string_view bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

std::string FormatName(uint32_t tag) {
  switch (tag) {
    case 2:
      return "Microsoft ADPCM";
    case 6:
      return "A-law";
    case 7:
      return "mu-law";
    case 0x11:
      return "IMA ADPCM";
    case 0x55:
      return "MP3";
    default:
      return fmt::format("format {:#06x}", tag);
  }
}

// `block_bytes`: the bytes of a frame, as the file says.
absl::Status SetCoding(uint32_t tag, uint32_t bits, uint32_t block_bytes, WaveFile& file) {
  if (tag == kFloat && (bits == 32 || bits == 64)) {
    file.coding = WaveCoding::kFloat;
  } else if (tag == kPcm && bits >= 1 && bits <= 32) {
    file.coding = bits <= 8 ? WaveCoding::kUnsigned8 : WaveCoding::kSigned;
  } else {
    const std::string found = tag == kPcm ? "integers" : tag == kFloat ? "floats" : FormatName(tag);
    return VerdictError(
        "the samples are {} of {} bits; expected integers of at most 32 or floats of 32 or 64; "
        "convert the file",
        found, bits);
  }
  // The bits of a sample lie in the upper bits of whole bytes. 24 bits may lie in the upper bits of
  // 4 bytes where the frame has room for that; 16 bits in 4 bytes rather mean that the channels are
  // wrong.
  // Source: Microsoft's page on WAVEFORMATEXTENSIBLE.
  const uint32_t packed_bytes = (bits + 7) / 8;
  const bool is_padded = packed_bytes == 3 && block_bytes == kContainerBytes * file.channels;
  file.sample_bytes = is_padded ? kContainerBytes : packed_bytes;
  if (block_bytes == file.frame_bytes()) return absl::OkStatus();
  return VerdictError(
      "the chunk `fmt ` gives a frame {} bytes; expected {} ({} channels of {} bits)", block_bytes,
      packed_bytes * file.channels, file.channels, bits);
}

absl::Status ParseFormat(std::string_view chunk, WaveFile& file) {
  if (chunk.size() < kFormatSize) {
    return VerdictError("the chunk `fmt ` has {} bytes; expected at least {}", chunk.size(),
                        kFormatSize);
  }
  uint32_t tag = Number(chunk, 0, 2);
  file.channels = Number(chunk, 2, 2);
  file.rate = Number(chunk, 4, 4);
  const uint32_t block_bytes = Number(chunk, 12, 2);
  const uint32_t bits = Number(chunk, 14, 2);
  if (file.channels == 0)
    return VerdictError("the chunk `fmt ` says 0 channels; expected at least 1");
  if (tag == kExtensible) {
    if (chunk.size() < kExtensibleSize || chunk.substr(26, kGuidTail.size()) != kGuidTail) {
      return VerdictError(
          "the chunk `fmt ` announces WAVE_FORMAT_EXTENSIBLE and has no known subformat");
    }
    file.channel_mask = Number(chunk, 20, 4);
    tag = Number(chunk, 24, 2);
  }
  return SetCoding(tag, bits, block_bytes, file);
}

// A sound whose loop cannot be understood is still a sound.
void LeaveOutLoop(std::string_view reason, WaveFile& file) {
  file.warnings.push_back(fmt::format("{}; the loop is left out", reason));
}

// Reads the first loop; its `end` in the file is the last frame that is played.
void ParseSampler(std::string_view chunk, WaveFile& file) {
  if (chunk.size() < kSamplerSize) {
    return LeaveOutLoop(fmt::format("the chunk `smpl` has {} bytes; expected at least {}",
                                    chunk.size(), kSamplerSize),
                        file);
  }
  const uint32_t loops = Number(chunk, 28, 4);
  if (loops == 0) return;
  if ((chunk.size() - kSamplerSize) / kSamplerLoopSize < loops) {
    return LeaveOutLoop(
        fmt::format("the chunk `smpl` announces {} loops, and has {} bytes", loops, chunk.size()),
        file);
  }
  if (loops > 1)
    file.warnings.push_back(fmt::format("of the {} loops in `smpl` the first is kept", loops));
  const uint32_t type = Number(chunk, kSamplerSize + 4, 4);
  const uint32_t start = Number(chunk, kSamplerSize + 8, 4);
  const uint32_t end = Number(chunk, kSamplerSize + 12, 4);
  if (type != kForward) {
    return LeaveOutLoop(
        fmt::format("the loop in `smpl` is of type {} ({}), which LOOPSTART and LOOPLENGTH cannot "
                    "say",
                    type,
                    type == 1   ? "to and fro"
                    : type == 2 ? "backward"
                                : "unknown"),
        file);
  }
  if (end < start) {
    return LeaveOutLoop(fmt::format("the loop in `smpl` goes from frame {} to {}", start, end),
                        file);
  }
  file.loop = Loop{.start = start, .length = uint64_t{end} - start + 1};
}

struct Chunk {
  std::string name;  // printable
  bool has_text_name = false;
  uint64_t at = 0;
  uint64_t size = 0;  // as announced
  std::string_view content;
  bool is_whole() const { return content.size() == size; }
};

bool IsText(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

// REQUIRES: a chunk's header lies at `at`.
Chunk ChunkAt(std::string_view bytes, size_t at) {
  Chunk chunk{.name = std::string(bytes.substr(at, 4)),
              .has_text_name = IsText(bytes.substr(at, 4)),
              .at = at,
              .size = Number(bytes, at + 4, 4),
              .content = {}};
  if (!chunk.has_text_name) chunk.name = "0x" + HexEncode(chunk.name);
  chunk.content = bytes.substr(at + kChunkHeaderSize, chunk.size);
  if (chunk.name == "data" && chunk.size == kUnknownSize) chunk.size = chunk.content.size();
  return chunk;
}

// Whether a usual chunk seems to begin at `at`.
bool IsKnownAt(std::string_view bytes, size_t at) {
  const std::string_view rest = bytes.substr(std::min(at, bytes.size()));
  return std::any_of(std::begin(kKnownNames), std::end(kKnownNames),
                     [&](std::string_view name) { return rest.starts_with(name); });
}

// Whether a chunk may begin at `at`: its name is text and its content fits.
bool IsChunkAt(std::string_view bytes, size_t at) {
  if (at + kChunkHeaderSize > bytes.size()) return false;
  const Chunk chunk = ChunkAt(bytes, at);
  return chunk.has_text_name && chunk.is_whole();
}

// The place behind a whole chunk. A chunk of odd size has a padding byte, 0; some programs leave it
// out, and some write another byte.
size_t NextChunkAt(std::string_view bytes, const Chunk& chunk) {
  const size_t end = chunk.at + kChunkHeaderSize + chunk.size;
  if (chunk.size % 2 == 0) return end;
  const bool is_unpadded = end < bytes.size() && bytes[end] != '\0' && !IsKnownAt(bytes, end + 1) &&
                           IsChunkAt(bytes, end);
  return is_unpadded ? end : end + 1;
}

std::string CutText(const Chunk& chunk) {
  return fmt::format("the chunk `{}` at byte {} announces {} bytes, and {} are there", chunk.name,
                     chunk.at, chunk.size, chunk.content.size());
}

absl::Status TakeData(const Chunk& chunk, WaveFile& file) {
  if (chunk.content.size() % file.frame_bytes() != 0) {
    return VerdictError(
        "the chunk `data` has {} bytes, which are no whole frames of {}; the file may be truncated",
        chunk.content.size(), file.frame_bytes());
  }
  file.data = chunk.content;
  return absl::OkStatus();
}

// Warns of bytes behind `data` that have no place in a list of chunks. Zeros are mere padding.
void WarnOfJunk(std::string_view bytes, const Chunk& junk, WaveFile& file) {
  const std::string_view rest = bytes.substr(junk.at);
  if (rest.find_first_not_of('\0') == std::string_view::npos) return;
  file.warnings.push_back(fmt::format(
      "{}; it is ignored, and chunks behind it, loops among them, were not read",
      junk.has_text_name ? CutText(junk) : fmt::format("byte {} begins no chunk", junk.at)));
}

}  // namespace

absl::StatusOr<WaveFile> ParseWaveFile(std::string_view bytes) {
  WaveFile file;
  bool has_data = false;
  size_t at = kFileHeaderSize;
  while (at + kChunkHeaderSize <= bytes.size()) {
    const Chunk chunk = ChunkAt(bytes, at);
    if (!chunk.is_whole() && (!has_data || chunk.name == "smpl"))
      return absl::InvalidArgumentError("the file is truncated: " + CutText(chunk));
    if (has_data && !(chunk.has_text_name && chunk.is_whole())) {
      WarnOfJunk(bytes, chunk, file);
      break;
    }
    if (chunk.name == "fmt " && file.sample_bytes == 0) {
      RETURN_IF_ERROR(ParseFormat(chunk.content, file));
    } else if (chunk.name == "data" && !has_data) {
      if (file.sample_bytes == 0)
        return VerdictError("the chunk `data` comes before the chunk `fmt `");
      RETURN_IF_ERROR(TakeData(chunk, file));
      has_data = true;
    } else if (chunk.name == "smpl") {
      ParseSampler(chunk.content, file);
    }
    at = NextChunkAt(bytes, chunk);
  }
  if (!has_data) return VerdictError("the file has no chunk `data`; it is truncated");
  return file;
}

absl::Status CheckWaveHead(std::string_view head) {
  for (size_t at = kFileHeaderSize; at + kChunkHeaderSize <= head.size();) {
    const Chunk chunk = ChunkAt(head, at);
    WaveFile file;
    if (chunk.name == "fmt ") return ParseFormat(chunk.content, file);
    if (!chunk.is_whole()) break;
    at = NextChunkAt(head, chunk);
  }
  return absl::OkStatus();
}

}  // namespace galley::worker::audio
