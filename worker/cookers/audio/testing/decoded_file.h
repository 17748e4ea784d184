// DecodedFile: what a player gets from an Ogg file, by libopusfile and libvorbisfile, without the
// cooker's own code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace galley::worker::audio {

struct DecodedFile {
  uint32_t rate = 0;
  uint32_t channels = 0;
  uint32_t serial = 0;
  uint64_t length = 0;        // frames, by the last granule position
  std::vector<float> frames;  // interleaved
  std::vector<std::string> comments;

  std::vector<double> channel(uint32_t index) const;
};

// Both CHECK that the file can be decoded.
DecodedFile DecodeOpusFile(const std::string& bytes);
DecodedFile DecodeVorbisFile(const std::string& bytes);

// Signal to noise in dB of `found` against `wanted`, over their common length.
double SignalToNoise(const std::vector<double>& found, const std::vector<double>& wanted);
// A single channel of interleaved samples.
std::vector<double> ChannelOf(const std::vector<double>& samples, uint32_t channels,
                              uint32_t index);

}  // namespace galley::worker::audio
