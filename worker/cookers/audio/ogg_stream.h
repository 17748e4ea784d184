// CheckOggStream: whether a file is a single whole Ogg stream of a known codec. It runs before the
// decoders, which forgive much: libvorbisfile and libopusfile skip pages that are damaged or lost,
// and end where the bytes end.
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
  size_t size_bytes = 0;  // bytes of the stream
  size_t last_page_at = 0;
  // False: the file ends after a whole page that is not marked as the last. Some programs write
  // such files; other such files were cut off.
  bool is_end_marked = true;
  int64_t end_frame = 0;              // by the last granule position, from the stream's start
  std::vector<std::string> warnings;  // an unmarked end, bytes after the end
};

// Checks that every page is there, in order, with the right checksum, of the same stream, up to the
// page that is marked as the last; or up to the end of the file when that is the end of a page and
// of a packet. INVALID_ARGUMENT names the flaw and its byte.
// Source: RFC 3533.
absl::StatusOr<OggStream> CheckOggStream(std::string_view bytes);

// CheckOggStream as far as the first two pages tell.
absl::Status CheckOggHead(std::string_view head);

// The stream with its last page marked as the end. Without the mark decoders do not cut the last
// packet at the last granule position, and cut a sound of a single page at its beginning instead.
// REQUIRES: CheckOggStream returned `stream` for `bytes`.
std::string MarkEnd(std::string_view bytes, const OggStream& stream);

}  // namespace galley::worker::audio
