#include "worker/cookers/audio/sample_sink.h"

#include <new>

#include "fmt/format.h"

namespace galley::worker::audio {
namespace {

absl::Status OutOfMemory() { return absl::ResourceExhaustedError("not enough memory to decode"); }

}  // namespace

absl::Status SampleSink::Begin(uint32_t rate, uint32_t channels, uint64_t frames_expected) {
  status_ = CheckForm(rate, channels, frames_expected, options_);
  if (!status_.ok()) return status_;
  sound_.rate = rate;
  sound_.channels = channels;
  try {
    sound_.samples.reserve(frames_expected * channels);
  } catch (const std::bad_alloc&) {
    status_ = OutOfMemory();
  }
  return status_;
}

float* SampleSink::Append(size_t frames) {
  if (!status_.ok()) return nullptr;
  status_ = CheckForm(sound_.rate, sound_.channels, sound_.frames() + frames, options_);
  if (!status_.ok()) return nullptr;
  const size_t before = sound_.samples.size();
  try {
    sound_.samples.resize(before + frames * sound_.channels);
  } catch (const std::bad_alloc&) {
    status_ = OutOfMemory();
    return nullptr;
  }
  return sound_.samples.data() + before;
}

absl::Status CheckLength(uint64_t frames_promised, uint64_t frames) {
  if (frames == frames_promised) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the file is truncated or damaged: it promises {} frames, and {} are there",
                  frames_promised, frames));
}

}  // namespace galley::worker::audio
