// CheckOggStream: whether a file is one whole Ogg stream of a known codec, before a decoder that
// forgives much sees it. libvorbisfile and libopusfile skip pages that are damaged or lost, and
// end where the bytes end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker::audio {

enum class OggCodec { kVorbis, kOpus };

struct OggStream {
  OggCodec codec = OggCodec::kVorbis;
  size_t size_bytes = 0;  // of the stream
  int64_t end_frame = 0;  // by the last page's granule position, from the stream's start
  std::vector<std::string> warnings;  // bytes behind the end
};

// Every page is there, in order, with the right sum, of one stream, and the last one says so.
// INVALID_ARGUMENT says what is not so, and at which byte.
// Source: RFC 3533.
absl::StatusOr<OggStream> CheckOggStream(std::string_view bytes);

}  // namespace galley::worker::audio
