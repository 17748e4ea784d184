// Url: where a director is: "http://host:port" or "https://host:port", with nothing behind it but
// one '/'. A host in brackets is an IPv6 address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace galley::vfs {

struct Url {
  bool is_tls = false;
  std::string host;       // without brackets
  uint16_t port = 0;      // 80 or 443 where none is named
  std::string authority;  // for the field Host
};

std::optional<Url> ParseUrl(std::string_view text);

// A path as a part of a URL: whatever is not a letter, a digit, or one of "-._~/" is encoded.
std::string EncodePath(std::string_view path);

}  // namespace galley::vfs
