// Decode: bytes of a wav, flac or ogg file -> Sound. The bytes are foreign: nothing is allocated
// before the length is known to be within the limits, and every flaw is an error in words. A file
// that was cut off is an error, never a shorter sound or silence. But an Ogg that ends after a
// whole page and packet may be whole, and is taken with a warning.
//
// Errors: INVALID_ARGUMENT: corrupt, truncated, unsupported, empty, or above the limits below; a
// verdict. OUT_OF_RANGE: within these limits, but above the job's memory limit; no verdict, since
// the memory limit is no part of the key.
// Threads: any; no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

namespace galley::worker::audio {

inline constexpr uint32_t kRateMin = 1'000;
inline constexpr uint32_t kRateMax = 768'000;
// The limit of a sound as 32-bit floats, at the source's rate and at 48 kHz, from which Opus is
// made. It bounds the time that a sound takes: 46 minutes of stereo at 48 kHz and below.
inline constexpr uint64_t kDecodedBytesMax = uint64_t{1} << 30;
// Above this peak (36 dB above full scale) libopus takes a block for nonsense and encodes silence.
inline constexpr float kPeakMax = 64.0F;

struct DecodeOptions {
  // The memory of the whole job: the source, the decoded samples and the output, which takes at
  // most a byte for each sample. The codecs' own memory, a few MiB, comes on top.
  uint64_t memory_bytes_max = UINT64_MAX;
};

struct Decoded {
  Sound sound;
  // The number of frames in the file before the first frame of `sound`. The decoder skips such
  // frames: libvorbisfile does so if sound is on the page of the headers.
  uint64_t begin_frame = 0;
  std::vector<std::string> warnings;
};

// `extension`: wav, flac, ogg, oga, opus.
absl::StatusOr<Decoded> Decode(std::string_view extension, std::string_view bytes,
                               const DecodeOptions& options);

// Whether the first bytes of a file announce a sound that Decode takes. `head` may be the whole
// file.
absl::Status CheckHead(std::string_view extension, std::string_view head);
// The flaw of a file that Decode refuses, in a few words: "an MP3 under the name .wav"; "": there
// is no short name, so read the error of Decode.
std::string FindSoundFlaw(std::string_view extension, std::string_view bytes);

// --- The codecs, for Decode, which checks the samples that the codecs give.
absl::StatusOr<Decoded> DecodeWav(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeFlac(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeVorbis(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeOpus(std::string_view bytes, const DecodeOptions& options);
// Whether a sound of this form may be decoded. `options`: without the memory of the source.
absl::Status CheckForm(uint64_t rate, uint64_t channels, uint64_t frames,
                       const DecodeOptions& options);
// OUT_OF_RANGE: the sound's output and room for `frames_held` decoded frames are more than the job
// may use. REQUIRES: CheckForm accepted `frames`.
absl::Status CheckMemory(uint64_t rate, uint64_t channels, uint64_t frames, uint64_t frames_held,
                         const DecodeOptions& options);

}  // namespace galley::worker::audio
