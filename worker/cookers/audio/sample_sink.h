// SampleSink: takes the frames that codecs decode. SampleSink keeps the length within the limits
// even if a file's header lies, and throws no exception, so that callbacks of the codecs may use
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "worker/cookers/audio/decode.h"

namespace galley::worker::audio {

class SampleSink {
 public:
  SampleSink(Sound& sound, const DecodeOptions& options) : sound_(sound), options_(options) {}

  // Checks the form, then makes room. `frames_expected`: 0: the file does not say. REQUIRES: called
  // once, first.
  absl::Status Begin(uint32_t rate, uint32_t channels, uint64_t frames_expected);
  // Room for `frames` more, to be filled in by the caller; nullptr: status() says why there is no
  // room. If the file tells its length, further frames are a flaw.
  float* Append(size_t frames);
  uint64_t frames() const { return sound_.frames(); }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status Grow(uint64_t frames);

  Sound& sound_;
  const DecodeOptions options_;
  uint64_t frames_expected_ = 0;
  absl::Status status_;
};

// INVALID_ARGUMENT: the sound has fewer or more frames than the file says.
absl::Status CheckLength(uint64_t frames_promised, uint64_t frames);

}  // namespace galley::worker::audio
