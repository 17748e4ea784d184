// Sound: decoded audio; every codec writes one, and every encoder reads one.
//
// Samples are interleaved floats, full scale is -1..1, the channels of a frame in the order that
// Vorbis and Opus share (docs/cookers/audio.md#channels). A frame is one sample of each channel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace galley::worker::audio {

// Vorbis I and RFC 7845 give speakers to one to eight channels.
inline constexpr uint32_t kChannelsMax = 8;

// The rate that Opus is decoded to, and encoded from.
inline constexpr uint32_t kOpusRate = 48'000;

struct Loop {
  uint64_t start = 0;  // frame
  uint64_t length = 0;
  bool operator==(const Loop&) const = default;
};

struct Sound {
  uint32_t rate = 0;
  uint32_t channels = 0;
  std::vector<float> samples;
  std::optional<Loop> loop;  // within the sound

  uint64_t frames() const { return channels == 0 ? 0 : samples.size() / channels; }
};

}  // namespace galley::worker::audio
