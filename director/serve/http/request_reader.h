// RequestReader: makes requests of the bytes that a connection brings, and refuses all that is not
// exactly one request after the other. It has no socket, so that a fuzzer can drive it.
//
//   reader.Append(bytes);
//   while (true) {
//     RequestReader::Next next = reader.TakeRequest();
//     // NeedsBytes: go on reading. Received: answer it. Refused: answer that; must_close: and end.
//   }
//
// A head goes through http::CheckHeadBytes, Beast's parser (parse_head.h), http::CheckRequest and
// http::ParseRequestTarget, in this order. Beside what these refuse:
//
//   431, ends  a head of more than 8 KiB, or more than 100 fields
//   414, ends  the same, where the first line alone has more than 8 KiB
//   411, ends  a chunked body: every client that Galley has knows the length of what it sends, and
//              chunks are where most ways of request smuggling begin
//
// A refusal ends the connection also where the client wants that, by Connection: close or HTTP/1.0.
// An empty line before a request is skipped (RFC 9112, 2.2). A head that is not whole is checked
// all the same, so that TLS or bare line feeds are refused at once, not after a time-out.
//
// Threads: one. Memory: at most kInputBytesMax and a body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/http/request_checks.h"
#include "director/serve/http/http_request.h"

namespace galley::director {

inline constexpr size_t kHeadBytesMax = 8 * 1024;
inline constexpr size_t kHeadFieldsMax = 100;
inline constexpr size_t kInputBytesMax = 16 * 1024;  // that wait for TakeRequest

class RequestReader {
 public:
  struct NeedsBytes {};
  struct Received {
    HttpRequest request;      // without its peer
    bool keeps_alive = true;  // another request may follow
    bool may_chunk = true;    // the client knows chunked bodies: HTTP/1.1
  };
  struct Refused {
    http::Refusal refusal;
    bool is_head = false;  // its answer has no body
  };
  using Next = std::variant<NeedsBytes, Received, Refused>;

  // `rules` outlives the reader.
  explicit RequestReader(const http::RequestRules& rules) : rules_(rules) {}

  // REQUIRES: bytes.size() <= room().
  void Append(std::string_view bytes) { input_.append(bytes); }
  size_t room() const { return kInputBytesMax - input_.size(); }
  // REQUIRES: no Refused with must_close was returned before.
  Next TakeRequest();
  // Whether a part of a request is there.
  bool has_begun() const { return !input_.empty() || partial_.has_value(); }

 private:
  // Partial: a request whose body is still to come.
  struct Partial {
    Received received;
    uint64_t missing_bytes = 0;
  };

  // The length of the head at the front of the input; 0: it is not whole.
  size_t FindHead();
  // Takes the head of `size` bytes from the input, and checks it.
  std::variant<Partial, Refused> TakeHead(size_t size);
  // Moves bytes of the body from the input to the request.
  Next TakeBody();
  void DropFront(size_t bytes);

  const http::RequestRules& rules_;
  std::string input_;
  size_t searched_bytes_ = 0;  // at the front of the input, where no head ends
  bool may_skip_line_ = true;  // an empty line before the next request
  std::optional<Partial> partial_;
};

}  // namespace galley::director
