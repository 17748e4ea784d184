// RequestFromText: a request that a test writes as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_replace.h"
#include "common/base/status_macros.h"
#include "director/serve/http/request_reader.h"

namespace galley::director {

// The request of "GET /a HTTP/1.1\nRange: bytes=0-4\n": lines end with LF, and the Host is added.
// REQUIRES: RequestReader takes it.
inline HttpRequest RequestFromText(std::string_view text) {
  const http::RequestRules rules{.allowed_hosts = {{.name = "localhost"}}};
  RequestReader reader(rules);
  const std::string whole = std::string(text) + "Host: localhost\n\n";
  reader.Append(absl::StrReplaceAll(whole, {{"\n", "\r\n"}}));
  RequestReader::Next next = reader.TakeRequest();
  GALLEY_CHECK(std::holds_alternative<RequestReader::Received>(next));
  return std::get<RequestReader::Received>(std::move(next)).request;
}

}  // namespace galley::director
