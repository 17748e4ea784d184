// HeadFromText: the head of a request that a test writes as text.
#pragma once

#include <string_view>

#include "common/http/request_checks.h"

namespace galley::http {

// Takes the first part of `text` up to `delimiter`.
inline std::string_view TakeUntil(std::string_view& text, char delimiter) {
  const size_t end = text.find(delimiter);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

// The head of "GET /a HTTP/1.1\nHost: localhost\n...": lines end with LF, CR is like any other
// byte, and nothing is checked. The head is made of views into `text`.
inline RequestHead HeadFromText(std::string_view text) {
  std::string_view line = TakeUntil(text, '\n');
  RequestHead head;
  head.method = TakeUntil(line, ' ');
  head.target = TakeUntil(line, ' ');
  const bool has_version = line.size() == 8 && line.starts_with("HTTP/") && line[6] == '.';
  head.version = has_version ? 10 * (line[5] - '0') + (line[7] - '0') : 0;
  while (!text.empty()) {
    line = TakeUntil(text, '\n');
    const std::string_view name = TakeUntil(line, ':');
    head.fields.push_back({name, line.starts_with(' ') ? line.substr(1) : line});
  }
  return head;
}

}  // namespace galley::http
