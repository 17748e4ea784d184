// Audio encoders: a Sound's frames -> an Ogg file with a single stream.
//
// The file's bytes depend only on the frames, the options and the library: the serial number is
// given, and no clock or rand() is used. The decoded length is exactly the resampler's frames().
//
// Errors: INVALID_ARGUMENT: the codec has no mode for this rate, number of channels and bit rate;
// OUT_OF_RANGE: not enough memory.
// Threads: any; no state is kept.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/resampler.h"

namespace galley::worker::audio {

// The rates for which libvorbisenc has modes.
inline constexpr uint32_t kVorbisRateMin = 8'000;
inline constexpr uint32_t kVorbisRateMax = 192'000;

struct EncodeOptions {
  int64_t bitrate = 0;  // bits per second of all channels; 0: the default of docs/cookers/audio.md
  int32_t serial = 0;   // of the Ogg stream
  std::vector<std::pair<std::string, std::string>> comments;
};

// The expected size of the file at this bit rate, with a reserve; the encoders allocate this much
// at the beginning.
inline uint64_t ExpectedBytes(const Resampler& frames, int64_t bitrate) {
  return frames.frames() / frames.rate() * static_cast<uint64_t>(bitrate) / 8 * 5 / 4 + (64 << 10);
}

// REQUIRES: frames.rate() is kOpusRate, or, for Vorbis, within kVorbisRateMin and kVorbisRateMax;
// no frame was taken yet.
absl::StatusOr<std::string> EncodeOpus(Resampler& frames, const EncodeOptions& options);
absl::StatusOr<std::string> EncodeVorbis(Resampler& frames, const EncodeOptions& options);

}  // namespace galley::worker::audio
