#include "worker/cookers/audio/ogg_stream.h"

#include <ogg/ogg.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

// Above a page's greatest size, 65,307 bytes.
constexpr size_t kReadSize = size_t{128} << 10;

// The pages of a file, one after the other.
class PageReader {
 public:
  explicit PageReader(std::string_view bytes) : bytes_(bytes) { ogg_sync_init(&sync_); }
  ~PageReader() { ogg_sync_clear(&sync_); }
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  // The place where the next page begins.
  size_t at() const { return at_; }
  // False: the file has ended. INVALID_ARGUMENT: there is no whole page here.
  absl::StatusOr<bool> Next(ogg_page& page) {
    while (true) {
      const auto size = ogg_sync_pageseek(&sync_, &page);
      if (size > 0) {
        at_ += static_cast<size_t>(size);
        return true;
      }
      if (size < 0)
        return VerdictError("the file is damaged at byte {}: no Ogg page with a right sum", at_);
      if (fed_ == bytes_.size()) break;
      RETURN_IF_ERROR(Feed());
    }
    if (at_ == bytes_.size()) return false;
    return VerdictError("the file is truncated: it ends within the page at byte {}", at_);
  }

 private:
  absl::Status Feed() {
    const size_t size = std::min(kReadSize, bytes_.size() - fed_);
    char* buffer = ogg_sync_buffer(&sync_, static_cast<int64_t>(size));
    if (buffer == nullptr) return OutOfMemoryError("libogg has not enough memory");
    std::memcpy(buffer, bytes_.data() + fed_, size);
    ogg_sync_wrote(&sync_, static_cast<int64_t>(size));
    fed_ += size;
    return absl::OkStatus();
  }

  const std::string_view bytes_;
  size_t fed_ = 0;
  size_t at_ = 0;
  ogg_sync_state sync_;
};

absl::StatusOr<OggCodec> CodecOf(const ogg_page& page) {
  const std::string_view body(reinterpret_cast<const char*>(page.body),
                              static_cast<size_t>(page.body_len));
  if (body.starts_with("\x01vorbis")) return OggCodec::kVorbis;
  if (body.starts_with("OpusHead")) return OggCodec::kOpus;
  const std::string_view found = body.starts_with(
                                     "\x7f"
                                     "FLAC")
                                     ? "FLAC"
                                 : body.starts_with("Speex   ")   ? "Speex"
                                 : body.starts_with("\x80theora") ? "Theora video"
                                 : body.starts_with("fishead")    ? "a Skeleton"
                                                                  : "an unknown codec";
  return VerdictError("the Ogg stream holds {}; expected Vorbis or Opus", found);
}

// The number of frames that Opus decodes and nobody plays; granule positions count them. REQUIRES:
// `page` is the first.
// Source: RFC 7845, 5.1.
int64_t PreSkipOf(OggCodec codec, const ogg_page& page) {
  constexpr long kAt = 10;
  if (codec != OggCodec::kOpus || page.body_len < kAt + 2) return 0;
  return page.body[kAt] | page.body[kAt + 1] << 8;
}

// Checks the stream's own rules from page to page.
struct Continuity {
  int serial = 0;
  int64_t page = 0;

  absl::Status Check(const ogg_page& next, size_t at) {
    if (ogg_page_bos(&next) != 0 || ogg_page_serialno(&next) != serial) {
      return VerdictError(
          "another stream begins or goes on at byte {}; expected one stream in the file", at);
    }
    ++page;
    if (ogg_page_pageno(&next) == page) return absl::OkStatus();
    return VerdictError("the page at byte {} has the number {}; expected {}: {}", at,
                        ogg_page_pageno(&next), page,
                        ogg_page_pageno(&next) < page ? "a page comes again" : "pages are missing");
  }
};

// The offset, in a page, of the number of its segments; their sizes follow, then the body.
constexpr size_t kSegmentsAt = 26;

size_t HeaderSize(const unsigned char* header) { return kSegmentsAt + 1 + header[kSegmentsAt]; }

// Whether the last packet up to `page` continues on the next page: a segment of 255 bytes never
// ends a packet.
bool IsPacketOpen(const ogg_page& page, bool was_open) {
  const size_t segments = page.header[kSegmentsAt];
  return segments == 0 ? was_open : page.header[kSegmentsAt + segments] == 255;
}

absl::Status CheckUnmarkedEnd(bool is_packet_open) {
  if (!is_packet_open) return absl::OkStatus();
  return VerdictError(
      "the file is truncated: its last packet continues on a page that is not there");
}

// The offset of a page's flags, and the flag of the last page.
constexpr size_t kFlagsAt = 5;
constexpr unsigned char kEndFlag = 4;
// The position of a page on which no packet ends.
constexpr int64_t kNoPosition = -1;

// Reads the first page, which names the codec.
absl::StatusOr<OggCodec> BeginStream(PageReader& reader, ogg_page& page) {
  ASSIGN_OR_RETURN(const bool has_page, reader.Next(page));
  if (!has_page || ogg_page_bos(&page) == 0)
    return VerdictError("the file does not begin with the first page of a stream");
  return CodecOf(page);
}

}  // namespace

absl::Status CheckOggHead(std::string_view head) {
  PageReader reader(head);
  ogg_page page;
  RETURN_IF_ERROR(BeginStream(reader, page).status());
  const auto has_next = reader.Next(page);
  if (!has_next.ok() || !*has_next || ogg_page_bos(&page) == 0) return absl::OkStatus();
  return VerdictError("several streams lie in the file; expected one");
}

absl::StatusOr<OggStream> CheckOggStream(std::string_view bytes) {
  PageReader reader(bytes);
  ogg_page page;
  OggStream stream;
  ASSIGN_OR_RETURN(stream.codec, BeginStream(reader, page));
  const int64_t pre_skip = PreSkipOf(stream.codec, page);
  Continuity continuity{.serial = ogg_page_serialno(&page), .page = ogg_page_pageno(&page)};
  bool is_packet_open = IsPacketOpen(page, false);
  int64_t position = ogg_page_granulepos(&page);
  while (ogg_page_eos(&page) == 0) {
    const size_t at = reader.at();
    ASSIGN_OR_RETURN(const bool has_next, reader.Next(page));
    if (!has_next) {
      RETURN_IF_ERROR(CheckUnmarkedEnd(is_packet_open));
      stream.is_end_marked = false;
      stream.warnings.emplace_back(
          "the last page is not marked as the stream's end; the file may have been cut there");
      break;
    }
    RETURN_IF_ERROR(continuity.Check(page, at));
    stream.last_page_at = at;
    is_packet_open = IsPacketOpen(page, is_packet_open);
    if (ogg_page_granulepos(&page) != kNoPosition) position = ogg_page_granulepos(&page);
  }
  if (bytes.substr(reader.at()).starts_with("OggS")) {
    return VerdictError("another stream begins at byte {}; expected one stream in the file",
                        reader.at());
  }
  stream.size_bytes = reader.at();
  // Unsigned, since a foreign position may be the least integer.
  stream.end_frame =
      static_cast<int64_t>(static_cast<uint64_t>(position) - static_cast<uint64_t>(pre_skip));
  if (reader.at() < bytes.size()) {
    stream.warnings.push_back(
        fmt::format("{} bytes behind the stream's end are ignored", bytes.size() - reader.at()));
  }
  return stream;
}

std::string MarkEnd(std::string_view bytes, const OggStream& stream) {
  std::string marked(bytes.substr(0, stream.size_bytes));
  auto* const header = reinterpret_cast<unsigned char*>(marked.data() + stream.last_page_at);
  header[kFlagsAt] = static_cast<unsigned char>(header[kFlagsAt] | kEndFlag);
  const size_t header_size = HeaderSize(header);
  ogg_page page{.header = header,
                .header_len = static_cast<long>(header_size),
                .body = header + header_size,
                .body_len = static_cast<long>(marked.size() - stream.last_page_at - header_size)};
  ogg_page_checksum_set(&page);
  return marked;
}

}  // namespace galley::worker::audio
