#include "common/vfs/url.h"

#include <algorithm>

#include "common/vfs/blob_id.h"

namespace galley::vfs {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool IsHost(std::string_view host, bool is_address) {
  const auto may_stand = [&](char c) { return IsUnreserved(c) || (is_address && c == ':'); };
  return !host.empty() && std::ranges::all_of(host, may_stand);
}

}  // namespace

std::optional<Url> ParseUrl(std::string_view text) {
  Url url;
  if (text.starts_with("https://")) {
    url.is_tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  if (text.ends_with('/')) text.remove_suffix(1);
  url.authority = text;
  url.port = url.is_tls ? 443 : 80;
  const bool has_brackets = text.starts_with('[');
  const size_t end = has_brackets ? text.find(']') : text.find(':');
  if (has_brackets && end == std::string_view::npos) return std::nullopt;
  url.host = text.substr(has_brackets, end - has_brackets);
  if (!IsHost(url.host, has_brackets)) return std::nullopt;
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(end + has_brackets);
  if (rest.empty()) return url;
  const std::optional<uint64_t> port = ParseNumber(rest.substr(1));
  if (rest.front() != ':' || !port || *port == 0 || *port > 65'535) return std::nullopt;
  url.port = static_cast<uint16_t>(*port);
  return url;
}

std::string EncodePath(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    if (IsUnreserved(c) || c == '/') {
      encoded += c;
      continue;
    }
    encoded += '%';
    encoded += kDigits[static_cast<uint8_t>(c) >> 4];
    encoded += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return encoded;
}

}  // namespace galley::vfs
