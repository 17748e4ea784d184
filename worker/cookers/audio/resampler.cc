#include "worker/cookers/audio/resampler.h"

#include <soxr.h>

#include <algorithm>
#include <string_view>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/out_of_memory.h"

namespace galley::worker::audio {
namespace {

constexpr uint64_t kChunkFrames = 4096;

soxr_t CreateHandle(uint32_t from_rate, uint32_t to_rate, uint32_t channels, soxr_error_t* error) {
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_20_BITQ, 0);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  return soxr_create(from_rate, to_rate, channels, error, &io, &quality, &runtime);
}

}  // namespace

void Resampler::Delete::operator()(::soxr* handle) const { soxr_delete(handle); }

Resampler::Resampler(const Sound& sound, uint32_t to_rate)
    : sound_(&sound),
      rate_(to_rate),
      frames_(std::max<uint64_t>(ScaleFrames(sound.frames(), sound.rate, to_rate), 1)) {}
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler::~Resampler() = default;

absl::StatusOr<Resampler> Resampler::Create(const Sound& sound, uint32_t to_rate) {
  Resampler resampler(sound, to_rate);
  if (sound.rate == to_rate) return resampler;
  soxr_error_t error = nullptr;
  resampler.handle_.reset(CreateHandle(sound.rate, to_rate, sound.channels, &error));
  if (resampler.handle_ == nullptr) return OutOfMemoryError("libsoxr: {}", soxr_strerror(error));
  resampler.block_.resize(kChunkFrames * sound.channels);
  return resampler;
}

std::span<const float> Resampler::Pass() {
  const uint64_t count = std::min(kChunkFrames, frames_ - given_);
  const std::span<const float> all = sound_->samples;
  const auto block = all.subspan(given_ * channels(), count * channels());
  given_ += count;
  return block;
}

// Feeds libsoxr until it returns frames; 0: it has returned all frames.
absl::StatusOr<size_t> Resampler::Process(std::span<float> out) {
  while (true) {
    const uint64_t left = sound_->frames() - taken_;
    const float* in = left == 0 ? nullptr : sound_->samples.data() + taken_ * channels();
    size_t used = 0;
    size_t made = 0;
    const soxr_error_t error = soxr_process(handle_.get(), in, std::min(left, kChunkFrames), &used,
                                            out.data(), out.size() / channels(), &made);
    if (error != nullptr) return OutOfMemoryError("libsoxr: {}", soxr_strerror(error));
    taken_ += used;
    if (made > 0 || left == 0) return made;
  }
}

absl::StatusOr<std::span<const float>> Resampler::Next() {
  if (handle_ == nullptr) return Pass();
  const uint64_t count = std::min(kChunkFrames, frames_ - given_);
  if (count == 0) return std::span<const float>();
  const std::span<float> out = std::span(block_).first(count * channels());
  ASSIGN_OR_RETURN(size_t made, Process(out));
  if (made == 0) {
    // libsoxr rounds the length down where we round up: the last frame is silence.
    std::ranges::fill(out, 0.0F);
    made = count;
  }
  given_ += made;
  return std::span<const float>(out.first(made * channels()));
}

std::string ResamplerIdentity() {
  constexpr std::string_view kPrefix = "libsoxr-";
  std::string_view version = soxr_version();
  if (version.starts_with(kPrefix)) version.remove_prefix(kPrefix.size());
  soxr_t handle = CreateHandle(44'100, 48'000, 2, nullptr);
  const std::string engine = handle == nullptr ? "none" : soxr_engine(handle);
  soxr_delete(handle);
  return fmt::format("{}-{}", version, engine);
}

}  // namespace galley::worker::audio
