// HttpAnswer: what a face answers to a request: a status, fields, and a body. The door adds what
// HTTP wants beside: preconditions, ranges, codings, framing, Date (response_plan.h).
//
//   {.content_type = "image/ktx2", .caching = HttpCaching::kImmutable, .tag = tag, .body = source}
//
// Threads: none for the values; the two interfaces say from where they are called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "common/base/blob.h"
#include "common/http/entity_tag.h"

namespace galley::director {

struct HttpField {
  std::string name;
  std::string value;  // control characters are escaped when it is sent
  friend bool operator==(const HttpField&, const HttpField&) = default;
};

// HttpBlobSource: a body that is not in memory. One source may be in many answers at a time.
class HttpBlobSource {
 public:
  // The bytes as they lie in an open file. They were verified, and nobody changes them.
  struct File {
    int descriptor = -1;  // open as long as the source lives
    uint64_t offset = 0;  // of the body's first byte
  };

  virtual ~HttpBlobSource() = default;
  // Never changes.
  virtual uint64_t size_bytes() const = 0;
  // Fills `bytes` with the bytes from `offset`; an error, when the answer has begun, cuts it off.
  // REQUIRES: offset + bytes.size() <= size_bytes(). Threads: any, of a pool; may block, and ends.
  virtual absl::Status ReadAt(uint64_t offset, std::span<char> bytes) = 0;
  // nullopt: ReadAt is the only way. A file is sent without a copy, where there is no TLS. Threads:
  // any; must not block.
  virtual std::optional<File> file() const { return std::nullopt; }
};

// HttpEventStream: a body without end: server-sent events. The door asks for events when the client
// can take some, and holds at most what one TakeEvents gave. So a slow client costs one buffer: the
// stream remembers how far the client is, and gives a snapshot when it is too far behind.
//
// The door sends a comment after 15 s without an event. The stream is released when the client
// leaves or the door stops.
// Threads: SetWake and TakeEvents on one thread, which must not be blocked; the destructor on any.
class HttpEventStream {
 public:
  virtual ~HttpEventStream() = default;
  // Called once, before TakeEvents. The stream calls `wake` whenever there is something to take
  // after TakeEvents gave nothing; more calls are harmless, also when the client has left. Threads
  // of `wake`: any.
  virtual void SetWake(std::function<void()> wake) = 0;
  // The next events, as text/event-stream: whole ones, about `bytes_max` bytes. "": there is none
  // as yet. nullopt: the stream is over.
  virtual std::optional<std::string> TakeEvents(size_t bytes_max) = 0;
};

// Cache-Control of an answer with a status 2xx, and of its 304. All others are no-store.
enum class HttpCaching : uint8_t {
  kNoStore,
  kNoCache,    // kept, and asked for again with its tag each time
  kImmutable,  // kept for a year
};

// A null Blob: no body. The others are not null.
using HttpBody =
    std::variant<Blob, std::shared_ptr<HttpBlobSource>, std::shared_ptr<HttpEventStream>>;

struct HttpAnswer {
  int status = 200;          // 200 to 599, but neither 206, 304, 412 nor 416, which the door sends
  std::string content_type;  // "": not sent
  HttpCaching caching = HttpCaching::kNoStore;
  std::optional<http::EntityTag> tag;  // strong: of the bytes without a coding
  bool is_codable = false;             // zstd or gzip may make it smaller
  std::string digest_field;            // Repr-Digest of the bytes without a coding; "": not sent
  std::vector<HttpField> fields;       // further ones: "Galley-Root", "Retry-After", "Location"
  HttpBody body;
};

}  // namespace galley::director
