// ChannelOrder: from the order of a WAV or FLAC file's channels to that of Vorbis and Opus.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker::audio {

// order[i]: which channel of the file is channel i of Vorbis and Opus. `mask` is
// WAVEFORMATEXTENSIBLE's dwChannelMask; 0: none, and the layout is the customary one of that many
// channels. INVALID_ARGUMENT: speakers that Vorbis and Opus have no place for.
// Sources: Vorbis I specification 4.3.9, RFC 7845 5.1.1.2, RFC 9639 9.1.3, Microsoft's
// WAVEFORMATEXTENSIBLE. REQUIRES: 1 <= channels <= kChannelsMax.
absl::StatusOr<std::vector<uint32_t>> ChannelOrder(uint32_t channels, uint32_t mask);

// samples of frames[order.size()], in place.
void Reorder(const std::vector<uint32_t>& order, std::vector<float>& samples);

}  // namespace galley::worker::audio
