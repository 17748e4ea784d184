// HttpRequest: one request of a client, as a face gets it. A face checks nothing of HTTP again: the
// framing, the Host and the spelling of the target were checked by RequestReader, the Origin and
// the token by CheckAccess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/blob.h"
#include "common/http/field_syntax.h"
#include "common/http/request_target.h"

namespace galley::director {

enum class HttpMethod : uint8_t { kGet, kHead, kPost, kDelete };

struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;
  http::RequestTarget target;
  std::vector<http::Field> fields;  // views into `head`
  std::string body;                 // of POST only; at most http::kBodyBytesMax bytes
  std::string peer;                 // the client's address, for the log: "127.0.0.1", "::1"
  Blob head;                        // the bytes of the head; a copy of the request shares them

  // Whether it asks for a representation. A face answers HEAD as it answers GET: the door leaves
  // the body out.
  bool reads() const { return method == HttpMethod::kGet || method == HttpMethod::kHead; }
  // The values of all fields of that name, joined by ", "; nullopt: there is none.
  std::optional<std::string> ValueOf(std::string_view name) const {
    return http::JoinedValue(fields, name);
  }
};

}  // namespace galley::director
