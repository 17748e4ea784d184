// Sample sounds: sounds by formulas and files made of them, for the audio cooker's tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galley::worker::audio {

struct Tone {
  double frequency = 440;
  double amplitude = 0.5;
};

// Interleaved frames; each channel has a tone of its own.
std::vector<double> Tones(uint32_t rate, uint64_t frames, const std::vector<Tone>& tones);

enum class WavKind { kUnsigned8, kSigned16, kSigned24, kSigned32, kFloat, kDouble };

// A RIFF chunk with its padding.
std::string Chunk(std::string_view name, std::string_view content);
// Little-endian.
std::string Number(uint32_t value, size_t size);

struct WavOptions {
  WavKind kind = WavKind::kSigned16;
  uint32_t rate = 48'000;
  uint32_t channels = 1;
  bool is_extensible = false;
  uint32_t channel_mask = 0;     // extensible
  std::string before_data = {};  // whole chunks
  std::string after_data = {};
};
std::string MakeWav(const std::vector<double>& samples, const WavOptions& options);
// `last`: the last frame that is played, as files count.
std::string SamplerChunk(uint32_t first, uint32_t last, uint32_t type = 0, uint32_t loops = 1);

struct FlacOptions {
  uint32_t bits = 16;
  uint32_t rate = 48'000;
  uint32_t channels = 1;
  std::vector<std::string> comments = {};
  bool says_length = true;
};
std::string MakeFlac(const std::vector<double>& samples, const FlacOptions& options);

}  // namespace galley::worker::audio
