#include <bit>
#include <cmath>
#include <cstring>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/channel_order.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/audio/wave_file.h"

namespace galley::worker::audio {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are read as they lie");

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// An integer of 2 to 4 bytes as a fraction of full scale.
float Integer(const char* at, uint32_t sample_bytes) {
  uint32_t bits = 0;  // the sample in the upper bytes
  for (uint32_t i = 0; i < sample_bytes; ++i)
    bits |= uint32_t{static_cast<uint8_t>(at[i])} << (8 * (4 - sample_bytes + i));
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}

float SampleAt(const char* at, const WaveFile& file) {
  switch (file.coding) {
    case WaveCoding::kUnsigned8:
      return static_cast<float>(static_cast<uint8_t>(*at) - 128) * 0x1p-7F;
    case WaveCoding::kSigned:
      return Integer(at, file.sample_bytes);
    case WaveCoding::kFloat:
      return file.sample_bytes == 4 ? Load<float>(at) : static_cast<float>(Load<double>(at));
  }
  return 0;
}

void WarnOfClipping(const std::vector<float>& samples, std::vector<std::string>& warnings) {
  float peak = 0;
  uint64_t above = 0;
  for (const float sample : samples) {
    const float magnitude = std::abs(sample);
    if (magnitude > 1.0F) ++above;
    if (magnitude > peak) peak = magnitude;
  }
  if (above == 0) return;
  warnings.push_back(fmt::format(
      "{} samples lie beyond full scale (the peak is {:.3f}); they clip when they are played",
      above, peak));
}

}  // namespace

absl::StatusOr<Decoded> DecodeWav(std::string_view bytes, const DecodeOptions& options) {
  ASSIGN_OR_RETURN(WaveFile file, ParseWaveFile(bytes));
  const uint64_t frames = file.data.size() / file.frame_bytes();
  RETURN_IF_ERROR(CheckForm(file.rate, file.channels, frames, options));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> order,
                   ChannelOrder(file.channels, file.channel_mask));
  Decoded decoded{.sound = {.rate = file.rate, .channels = file.channels},
                  .warnings = std::move(file.warnings)};
  decoded.sound.samples.reserve(frames * file.channels);
  for (size_t at = 0; at < file.data.size(); at += file.sample_bytes)
    decoded.sound.samples.push_back(SampleAt(file.data.data() + at, file));
  Reorder(order, decoded.sound.samples);
  if (file.coding == WaveCoding::kFloat) WarnOfClipping(decoded.sound.samples, decoded.warnings);
  if (file.loop && frames > 0) {
    const absl::StatusOr<Loop> loop = FitLoop(*file.loop, frames, decoded.warnings);
    if (loop.ok()) {
      decoded.sound.loop = *loop;
    } else {
      decoded.warnings.push_back(MessageOf(loop.status()) + "; the loop is left out");
    }
  }
  return decoded;
}

}  // namespace galley::worker::audio
