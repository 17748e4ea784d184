// Resampler: a Sound's frames at another rate, block by block, by libsoxr.
//
// Linear phase, 20 bits, single-threaded; the output is aligned with the input and has exactly
// frames() frames. At 20 bits libsoxr takes its single-precision engine, which on x86-64 is the
// same code on every processor; its double-precision engine has an AVX twin with other bytes. At
// equal rates frames pass unchanged.
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

struct soxr;  // defined by libsoxr

namespace galley::worker::audio {

class Resampler {
 public:
  // OUT_OF_RANGE: libsoxr has not enough memory. REQUIRES: `sound` has at least one frame, and
  // outlives the Resampler.
  static absl::StatusOr<Resampler> Create(const Sound& sound, uint32_t to_rate);
  Resampler(Resampler&&) noexcept;
  ~Resampler();

  uint32_t rate() const { return rate_; }
  uint32_t channels() const { return sound_->channels; }
  uint64_t frames() const { return frames_; }
  // Interleaved frames, valid until the next call; empty: all frames were given.
  absl::StatusOr<std::span<const float>> Next();

 private:
  struct Delete {
    void operator()(::soxr* handle) const;
  };
  Resampler(const Sound& sound, uint32_t to_rate);
  std::span<const float> Pass();
  absl::StatusOr<size_t> Process(std::span<float> out);

  const Sound* sound_;
  uint32_t rate_;
  uint64_t frames_;
  uint64_t given_ = 0;                      // frames that went out
  uint64_t taken_ = 0;                      // frames that went in
  std::unique_ptr<::soxr, Delete> handle_;  // null at equal rates
  std::vector<float> block_;
};

// "0.1.3-cr32s": libsoxr's version and the engine that Resampler gets.
std::string ResamplerIdentity();

}  // namespace galley::worker::audio
