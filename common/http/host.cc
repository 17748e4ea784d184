#include "common/http/host.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/parse_whole.h"
#include "common/base/plain_text.h"

namespace galley::http {
namespace {

bool IsHostName(std::string_view name) {
  return !name.empty() && IsAlphanumericOr(name, "-._~%!$&'()*+,;=");
}

// The length of "[...]" at the front of `text`; 0 if there is no address in brackets.
size_t BracketedLength(std::string_view text) {
  const size_t end = text.find(']');
  if (text.empty() || text[0] != '[' || end == std::string_view::npos || end == 1) return 0;
  const auto is_of_address = [](char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c)) || c == ':' || c == '.';
  };
  return std::ranges::all_of(text.substr(1, end - 1), is_of_address) ? end + 1 : 0;
}

}  // namespace

std::optional<Host> ParseHost(std::string_view text) {
  const size_t bracketed = BracketedLength(text);
  const size_t length = bracketed > 0 ? bracketed : std::min(text.find(':'), text.size());
  if (bracketed == 0 && !IsHostName(text.substr(0, length))) return std::nullopt;
  Host host{.name = std::string(text.substr(0, length)), .port = std::nullopt};
  absl::AsciiStrToLower(&host.name);
  const std::string_view rest = text.substr(length);
  if (rest.empty() || rest == ":") return host;
  if (rest[0] != ':') return std::nullopt;
  host.port = ParseWhole<uint16_t>(rest.substr(1));
  return host.port ? std::optional(std::move(host)) : std::nullopt;
}

bool IsAllowedHost(const Host& host, std::span<const Host> allowed, uint16_t default_port) {
  return std::ranges::any_of(allowed, [&](const Host& own) {
    return own.name == host.name && (!own.port || *own.port == host.port.value_or(default_port));
  });
}

}  // namespace galley::http
