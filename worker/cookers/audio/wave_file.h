// WaveFile: the contents of the chunks of a RIFF WAVE file. Parses foreign bytes; decodes no
// sample.
//
// Chunks up to and including `data` must be whole. A broken chunk after `data` is a warning, since
// the sound is whole; but a broken `smpl` is an error, since it shows that the file was cut off. A
// `smpl` chunk whose loop makes no sense is a warning. A `data` chunk of size 0xFFFFFFFF, as
// programs write into pipes, reaches to the end of the file. After a chunk of odd size the padding
// byte may be missing.
// Source: Microsoft's "Multimedia Programming Interface and Data Specifications 1.0", mmreg.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

namespace galley::worker::audio {

enum class WaveCoding { kUnsigned8, kSigned, kFloat };

struct WaveFile {
  WaveCoding coding = WaveCoding::kSigned;
  // The bytes of one sample. kUnsigned8: 1. kSigned: 2, 3 or 4; the value is in the upper bits.
  // kFloat: 4 or 8.
  uint32_t sample_bytes = 0;
  uint32_t channels = 0;
  uint32_t rate = 0;
  uint32_t channel_mask = 0;  // 0: none
  std::string_view data;      // whole frames
  std::optional<Loop> loop;   // from the `smpl` chunk, not checked against the length
  std::vector<std::string> warnings;

  uint64_t frame_bytes() const { return uint64_t{channels} * sample_bytes; }
};

// INVALID_ARGUMENT names the flaw and its byte. REQUIRES: "RIFF" and "WAVE" were seen.
absl::StatusOr<WaveFile> ParseWaveFile(std::string_view bytes);
// Checks the chunk `fmt ` if it is within `head`, the first bytes of a file; else returns OK.
absl::Status CheckWaveHead(std::string_view head);

}  // namespace galley::worker::audio
