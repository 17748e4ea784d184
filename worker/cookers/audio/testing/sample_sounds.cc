#include "worker/cookers/audio/testing/sample_sounds.h"

#include <FLAC/metadata.h>
#include <FLAC/stream_encoder.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "common/base/status_macros.h"

namespace galley::worker::audio {
namespace {

constexpr std::string_view kGuidTail{"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71",
                                     14};

// Coarser than the differences between processors' sines: the samples are the same everywhere.
constexpr double kGrid = 0x1p36;

template <typename T>
std::string Raw(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

uint32_t Scaled(double sample, uint32_t bits) {
  const double scale = std::ldexp(1.0, static_cast<int>(bits) - 1);
  return static_cast<uint32_t>(
      static_cast<int64_t>(std::max(std::min(std::round(sample * scale), scale - 1), -scale)));
}

std::string SampleBytes(double sample, WavKind kind) {
  switch (kind) {
    case WavKind::kUnsigned8:
      return Number(Scaled(sample, 8) + 128, 1);
    case WavKind::kSigned16:
      return Number(Scaled(sample, 16), 2);
    case WavKind::kSigned24:
      return Number(Scaled(sample, 24), 3);
    case WavKind::kSigned32:
      return Number(Scaled(sample, 32), 4);
    case WavKind::kFloat:
      return Raw(static_cast<float>(sample));
    case WavKind::kDouble:
      return Raw(sample);
  }
  return {};
}

std::string FormatChunk(const WavOptions& options) {
  const bool is_float = options.kind == WavKind::kFloat || options.kind == WavKind::kDouble;
  const auto bytes = static_cast<uint32_t>(SampleBytes(0, options.kind).size());
  const uint32_t tag = is_float ? 3 : 1;
  std::string format = Number(options.is_extensible ? 0xFFFE : tag, 2) +
                       Number(options.channels, 2) + Number(options.rate, 4) +
                       Number(options.rate * options.channels * bytes, 4) +
                       Number(options.channels * bytes, 2) + Number(bytes * 8, 2);
  if (options.is_extensible) {
    format += Number(22, 2) + Number(bytes * 8, 2) + Number(options.channel_mask, 4) +
              Number(tag, 2) + std::string(kGuidTail);
  }
  return Chunk("fmt ", format);
}

struct FlacFile {
  std::string bytes;
  size_t at = 0;
};

FLAC__StreamEncoderWriteStatus WriteFlac(const FLAC__StreamEncoder*, const FLAC__byte buffer[],
                                         size_t size, uint32_t, uint32_t, void* client) {
  FlacFile& file = *static_cast<FlacFile*>(client);
  file.bytes.resize(std::max(file.bytes.size(), file.at + size));
  std::memcpy(file.bytes.data() + file.at, buffer, size);
  file.at += size;
  return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
}

FLAC__StreamEncoderSeekStatus SeekFlac(const FLAC__StreamEncoder*, FLAC__uint64 offset,
                                       void* client) {
  static_cast<FlacFile*>(client)->at = offset;
  return FLAC__STREAM_ENCODER_SEEK_STATUS_OK;
}

FLAC__StreamEncoderTellStatus TellFlac(const FLAC__StreamEncoder*, FLAC__uint64* offset,
                                       void* client) {
  *offset = static_cast<FlacFile*>(client)->at;
  return FLAC__STREAM_ENCODER_TELL_STATUS_OK;
}

FLAC__StreamMetadata* MakeComments(const std::vector<std::string>& comments) {
  FLAC__StreamMetadata* block = FLAC__metadata_object_new(FLAC__METADATA_TYPE_VORBIS_COMMENT);
  for (std::string comment : comments) {
    const FLAC__StreamMetadata_VorbisComment_Entry entry = {
        static_cast<uint32_t>(comment.size()), reinterpret_cast<FLAC__byte*>(comment.data())};
    GALLEY_CHECK(FLAC__metadata_object_vorbiscomment_append_comment(block, entry, true));
  }
  return block;
}

}  // namespace

std::vector<double> Tones(uint32_t rate, uint64_t frames, const std::vector<Tone>& tones) {
  std::vector<double> samples;
  for (uint64_t i = 0; i < frames; ++i) {
    for (const Tone& tone : tones) {
      const double sample = tone.amplitude * std::sin(2 * std::numbers::pi * tone.frequency *
                                                      static_cast<double>(i) / rate);
      samples.push_back(std::round(sample * kGrid) / kGrid);
    }
  }
  return samples;
}

std::string Number(uint32_t value, size_t size) { return Raw(value).substr(0, size); }

std::string Chunk(std::string_view name, std::string_view content) {
  return std::string(name) + Number(static_cast<uint32_t>(content.size()), 4) +
         std::string(content) + std::string(content.size() % 2, '\0');
}

std::string MakeWav(const std::vector<double>& samples, const WavOptions& options) {
  std::string data;
  for (const double sample : samples) data += SampleBytes(sample, options.kind);
  return Chunk("RIFF", "WAVE" + FormatChunk(options) + options.before_data + Chunk("data", data) +
                           options.after_data);
}

std::string SamplerChunk(uint32_t first, uint32_t last, uint32_t type, uint32_t loops) {
  std::string content(28, '\0');
  content += Number(loops, 4) + Number(0, 4);
  for (uint32_t i = 0; i < loops; ++i) {
    content += Number(i, 4) + Number(type, 4) + Number(first, 4) + Number(last, 4) + Number(0, 4) +
               Number(0, 4);
  }
  return Chunk("smpl", content);
}

std::string MakeFlac(const std::vector<double>& samples, const FlacOptions& options) {
  FlacFile file;
  FLAC__StreamEncoder* encoder = FLAC__stream_encoder_new();
  FLAC__StreamMetadata* comments = MakeComments(options.comments);
  FLAC__stream_encoder_set_channels(encoder, options.channels);
  FLAC__stream_encoder_set_bits_per_sample(encoder, options.bits);
  FLAC__stream_encoder_set_sample_rate(encoder, options.rate);
  FLAC__stream_encoder_set_metadata(encoder, &comments, 1);
  GALLEY_CHECK(FLAC__stream_encoder_init_stream(encoder, &WriteFlac,
                                                options.says_length ? &SeekFlac : nullptr,
                                                options.says_length ? &TellFlac : nullptr, nullptr,
                                                &file) == FLAC__STREAM_ENCODER_INIT_STATUS_OK);
  std::vector<FLAC__int32> integers;
  for (const double sample : samples)
    integers.push_back(static_cast<FLAC__int32>(Scaled(sample, options.bits)));
  GALLEY_CHECK(FLAC__stream_encoder_process_interleaved(
      encoder, integers.data(), static_cast<uint32_t>(samples.size() / options.channels)));
  GALLEY_CHECK(FLAC__stream_encoder_finish(encoder));
  FLAC__metadata_object_delete(comments);
  FLAC__stream_encoder_delete(encoder);
  return file.bytes;
}

}  // namespace galley::worker::audio
