#include "worker/cookers/audio/decode.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/ogg_stream.h"
#include "worker/cookers/audio/wave_file.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/source/foreign_source.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr size_t kId3HeaderSize = 10;

// The size of an ID3v2 tag at the front; 0: there is no tag. MP3 files have such tags, and some
// programs put them before a FLAC as well.
// Source: "ID3 tag version 2.4.0 - Main Structure", 3.1.
size_t FrontTagSize(std::string_view bytes) {
  if (bytes.size() < kId3HeaderSize || !bytes.starts_with("ID3")) return 0;
  size_t size = 0;
  for (size_t i = 6; i < kId3HeaderSize; ++i) size = size << 7 | (bytes[i] & 0x7F);
  const bool has_footer = (bytes[5] & 0x10) != 0;
  return std::min(bytes.size(), kId3HeaderSize + size + (has_footer ? kId3HeaderSize : 0));
}

// The format that the first bytes announce; empty: they announce no known format.
std::string_view SniffFormat(std::string_view bytes) {
  if (bytes.substr(FrontTagSize(bytes)).starts_with("fLaC")) return "flac";
  const std::string_view form = bytes.size() < 12 ? std::string_view() : bytes.substr(8, 4);
  if (bytes.starts_with("RIFF") && form == "WAVE") return "wav";
  if (bytes.starts_with("OggS")) return "ogg";
  if (bytes.starts_with("RF64") || bytes.starts_with("BW64")) return "RF64 (64-bit wav)";
  if (bytes.starts_with("RIFX")) return "RIFX (big-endian wav)";
  if (bytes.starts_with("riff")) return "Wave64";
  if (bytes.starts_with("FORM") && form.starts_with("AIF")) return "AIFF";
  if (bytes.starts_with("ID3") || bytes.starts_with("\xff\xfb"))
    return "MP3 (or another format behind an ID3 tag, which must come off)";
  if (bytes.size() >= 12 && bytes.substr(4, 4) == "ftyp") return "MP4";
  if (bytes.starts_with(".snd")) return "AU";
  return {};
}

std::string_view FormatOf(std::string_view extension) {
  const bool is_ogg = extension == "ogg" || extension == "oga" || extension == "opus";
  return is_ogg ? "ogg" : extension;
}

absl::Status CheckSignature(std::string_view format, std::string_view bytes) {
  if (bytes.empty()) return VerdictError("the file is empty");
  RETURN_IF_ERROR(CheckNoLfsPointer(bytes));
  const std::string_view found = SniffFormat(bytes);
  if (found == format) return absl::OkStatus();
  if (found.empty()) return ForeignSource(format, bytes);
  if (found == "wav" || found == "flac" || found == "ogg")
    return VerdictError("the file is a {0}; name it .{0}", found);
  return VerdictError("the file is {}; convert it to wav, flac or ogg, or {}", found,
                      kOtherCookers);
}

absl::StatusOr<Decoded> DecodeStream(std::string_view bytes, const OggStream& stream,
                                     const DecodeOptions& options) {
  const auto decode = stream.codec == OggCodec::kOpus ? DecodeOpus : DecodeVorbis;
  if (stream.is_end_marked) return decode(bytes.substr(0, stream.size_bytes), options);
  const uint64_t copy_bytes = std::min<uint64_t>(options.memory_bytes_max, stream.size_bytes);
  absl::StatusOr<Decoded> decoded =
      decode(MarkEnd(bytes, stream), {.memory_bytes_max = options.memory_bytes_max - copy_bytes});
  if (!absl::IsInvalidArgument(decoded.status())) return decoded;
  return VerdictError(
      "{} (the last page is not marked as the stream's end: the file may be truncated)",
      std::string(decoded.status().message()));
}

absl::StatusOr<Decoded> DecodeOgg(std::string_view bytes, const DecodeOptions& options) {
  ASSIGN_OR_RETURN(const OggStream stream, CheckOggStream(bytes));
  absl::StatusOr<Decoded> decoded = DecodeStream(bytes, stream, options);
  if (!decoded.ok()) return decoded;
  if (decoded->begin_frame > 0) {
    decoded->warnings.push_back(
        fmt::format("the first {} frames lie on the page of the headers, which decoders pass over; "
                    "they are left out",
                    decoded->begin_frame));
  }
  if (stream.end_frame != static_cast<int64_t>(decoded->begin_frame + decoded->sound.frames())) {
    decoded->warnings.push_back(fmt::format(
        "the last granule position ends the sound at frame {}, and the file has {} frames: it was "
        "cut out of a longer one, or is damaged",
        stream.end_frame, decoded->sound.frames()));
  }
  decoded->warnings.insert(decoded->warnings.end(), stream.warnings.begin(), stream.warnings.end());
  return decoded;
}

absl::StatusOr<Decoded> DecodeTaggedFlac(std::string_view bytes, const DecodeOptions& options) {
  const size_t tag_size = FrontTagSize(bytes);
  absl::StatusOr<Decoded> decoded = DecodeFlac(bytes.substr(tag_size), options);
  if (decoded.ok() && tag_size > 0)
    decoded->warnings.emplace_back("the ID3v2 tag in front of the sound is ignored");
  return decoded;
}

absl::StatusOr<Decoded> DecodeAs(std::string_view format, std::string_view bytes,
                                 const DecodeOptions& options) {
  RETURN_IF_ERROR(CheckSignature(format, bytes));
  if (format == "wav") return DecodeWav(bytes, options);
  if (format == "flac") return DecodeTaggedFlac(bytes, options);
  return DecodeOgg(bytes, options);
}

absl::Status CheckSamples(const Sound& sound) {
  if (sound.samples.empty()) return VerdictError("there is no audio in the file: its length is 0");
  for (size_t i = 0; i < sound.samples.size(); ++i) {
    const float sample = sound.samples[i];
    if (std::abs(sample) <= kPeakMax) continue;  // false for NaN
    const std::string place =
        fmt::format("frame {}, channel {}", i / sound.channels, i % sound.channels);
    if (!std::isfinite(sample))
      return VerdictError("the sample at {} is {}; expected a finite number", place, sample);
    return VerdictError(
        "the sample at {} is {}; expected one within full scale, -1 to 1 (up to {} is encoded with "
        "a warning)",
        place, sample, kPeakMax);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckForm(uint64_t rate, uint64_t channels, uint64_t frames,
                       const DecodeOptions& options) {
  if (channels == 0 || channels > kChannelsMax) {
    return VerdictError(
        "the sound has {} channels; expected 1 to {}, the numbers that have speaker positions in "
        "Opus and Vorbis",
        channels, kChannelsMax);
  }
  if (rate < kRateMin || rate > kRateMax)
    return VerdictError("the sampling rate is {} Hz; expected {} to {}", rate, kRateMin, kRateMax);
  // With `frames` within the first limit, the second product cannot overflow.
  const uint64_t frames_max = kDecodedBytesMax / (channels * sizeof(float));
  if (frames > frames_max || frames * kOpusRate / rate > frames_max) {
    return VerdictError(
        "the sound has {} frames of {} channels at {} Hz: more than the limit of {} bytes decoded "
        "to 32-bit floats at this rate or at {} Hz; split it",
        frames, channels, rate, kDecodedBytesMax, kOpusRate);
  }
  return CheckMemory(rate, channels, frames, frames, options);
}

absl::Status CheckMemory(uint64_t rate, uint64_t channels, uint64_t frames, uint64_t frames_held,
                         const DecodeOptions& options) {
  const uint64_t decoded_bytes = frames_held * channels * sizeof(float);
  const uint64_t output_bytes = std::max(frames, frames * kOpusRate / rate) * channels;
  if (decoded_bytes + output_bytes <= options.memory_bytes_max) return absl::OkStatus();
  return OutOfMemoryError(
      "the sound has {} frames of {} channels at {} Hz: {} bytes decoded and at most {} of output, "
      "and the job has {} beside the source; raise `memory` in its rule",
      frames, channels, rate, decoded_bytes, output_bytes, options.memory_bytes_max);
}

absl::Status CheckHead(std::string_view extension, std::string_view head) {
  const std::string_view format = FormatOf(extension);
  absl::Status status = CheckSignature(format, head);
  if (status.ok() && format == "wav") status = CheckWaveHead(head);
  if (status.ok() && format == "ogg") status = CheckOggHead(head);
  return status.ok() ? status : Annotate(status, format);
}

std::string FindSoundFlaw(std::string_view extension, std::string_view bytes) {
  const std::string_view found = SniffFormat(bytes);
  if (found == FormatOf(extension)) return "";
  const std::string_view name = found.substr(0, found.find(" ("));
  const bool is_read = found == "wav" || found == "flac" || found == "ogg";
  return MisnamedFlaw(extension, bytes,
                      is_read ? absl::AsciiStrToUpper(std::string(name)) : std::string(name));
}

absl::StatusOr<Decoded> Decode(std::string_view extension, std::string_view bytes,
                               const DecodeOptions& options) {
  const std::string_view format = FormatOf(extension);
  if (format != "wav" && format != "flac" && format != "ogg")
    return VerdictError("audio: expected a wav, flac, ogg, oga or opus file, not .{}", extension);
  const DecodeOptions beside_source{.memory_bytes_max =
                                        options.memory_bytes_max -
                                        std::min<uint64_t>(options.memory_bytes_max, bytes.size())};
  absl::StatusOr<Decoded> decoded = DecodeAs(format, bytes, beside_source);
  if (!decoded.ok()) return Annotate(decoded.status(), format);
  if (const absl::Status status = CheckSamples(decoded->sound); !status.ok())
    return Annotate(status, format);
  return decoded;
}

}  // namespace galley::worker::audio
