// ChannelOrder: maps the channels of a WAV or FLAC file to the channels of Vorbis and Opus.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker::audio {

// order[i]: the file's channel that is channel i of Vorbis and Opus. `mask`: WAVEFORMATEXTENSIBLE's
// dwChannelMask; 0: no mask, and the layout is the customary layout for the number of channels.
// INVALID_ARGUMENT: Vorbis and Opus have no place for some speaker. REQUIRES: 1 <= channels <=
// kChannelsMax.
// Sources: Vorbis I specification 4.3.9, RFC 7845 5.1.1.2, RFC 9639 9.1.3, Microsoft's
// WAVEFORMATEXTENSIBLE.
absl::StatusOr<std::vector<uint32_t>> ChannelOrder(uint32_t channels, uint32_t mask);

// Reorders the samples of each frame, in place. A frame has order.size() samples.
void Reorder(const std::vector<uint32_t>& order, std::vector<float>& samples);

}  // namespace galley::worker::audio
