#include "worker/cookers/audio/sample_sink.h"

#include <algorithm>
#include <new>

#include "common/base/status_macros.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

absl::Status OutOfMemory() { return OutOfMemoryError("not enough memory to decode"); }

}  // namespace

absl::Status SampleSink::Begin(uint32_t rate, uint32_t channels, uint64_t frames_expected) {
  status_ = CheckForm(rate, channels, frames_expected, options_);
  if (!status_.ok()) return status_;
  sound_.rate = rate;
  sound_.channels = channels;
  frames_expected_ = frames_expected;
  try {
    sound_.samples.reserve(frames_expected * channels);
  } catch (const std::bad_alloc&) {
    status_ = OutOfMemory();
  }
  return status_;
}

// Makes room for `frames` in all, by doubling where the length is not known. While the samples move
// to their new place they take the room twice.
absl::Status SampleSink::Grow(uint64_t frames) {
  if (frames <= frames_expected_) return absl::OkStatus();
  if (frames_expected_ != 0) return CheckLength(frames_expected_, frames);
  RETURN_IF_ERROR(CheckForm(sound_.rate, sound_.channels, frames, options_));
  if (frames * sound_.channels <= sound_.samples.capacity()) return absl::OkStatus();
  const uint64_t room = std::max(frames, 2 * sound_.frames());
  RETURN_IF_ERROR(
      CheckMemory(sound_.rate, sound_.channels, frames, room + sound_.frames(), options_));
  sound_.samples.reserve(room * sound_.channels);
  return absl::OkStatus();
}

float* SampleSink::Append(size_t frames) {
  if (!status_.ok()) return nullptr;
  const size_t before = sound_.samples.size();
  try {
    status_ = Grow(sound_.frames() + frames);
    if (!status_.ok()) return nullptr;
    sound_.samples.resize(before + frames * sound_.channels);
  } catch (const std::bad_alloc&) {
    status_ = OutOfMemory();
    return nullptr;
  }
  return sound_.samples.data() + before;
}

absl::Status CheckLength(uint64_t frames_promised, uint64_t frames) {
  if (frames == frames_promised) return absl::OkStatus();
  return VerdictError("the file is truncated or damaged: it promises {} frames, and {}{} are there",
                      frames_promised, frames > frames_promised ? "at least " : "", frames);
}

}  // namespace galley::worker::audio
