#include "common/store/reapi/client/remote_url.h"

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kExpected = "expected grpc://host:port, grpcs://host:port or unix:/path";

absl::Status Wrong(std::string_view text, std::string_view what) {
  return InvalidArgumentError("remote {}: {}; {}", text, what, kExpected);
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") &&
          std::ranges::all_of(host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; }));
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    const std::string_view address = host.substr(1, host.size() - 2);
    return address.find(':') != std::string_view::npos && std::ranges::all_of(address, [](char c) {
             return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                    c == ':' || c == '.';
           });
  }
  return !host.empty() && IsAlphanumericOr(host, ".-_");
}

bool IsPort(std::string_view port) {
  if (port.empty() || port.size() > 5) return false;
  uint32_t number = 0;
  for (const char c : port) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number >= 1 && number <= 65535;
}

}  // namespace

absl::StatusOr<RemoteUrl> ParseRemoteUrl(std::string_view text) {
  if (text.starts_with("unix:")) {
    const std::string_view path = text.substr(5);
    if (!path.starts_with('/') || path.size() > 107 || path.find('\0') != std::string_view::npos)
      return Wrong(text, "a socket has an absolute path of at most 107 bytes");
    return RemoteUrl{.text = std::string(text), .target = std::string(text), .is_local = true};
  }
  RemoteUrl url;
  std::string_view rest = text;
  if (text.starts_with("grpcs://")) {
    url.is_tls = true;
    rest.remove_prefix(8);
  } else if (text.starts_with("grpc://")) {
    rest.remove_prefix(7);
  } else if (text.starts_with("http://") || text.starts_with("https://")) {
    return Wrong(text.find('@') == std::string_view::npos ? text : "(with a password)",
                 "the Remote Execution API is spoken over gRPC, not over plain HTTP");
  } else {
    return Wrong(text.find('@') == std::string_view::npos ? text : "(with a password)",
                 "not known");
  }
  if (rest.find('@') != std::string_view::npos) {
    return Wrong("(with a password)",
                 "no user or password stands in an address; put them in the file that "
                 "`store.credential_file` names");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#") != std::string_view::npos)
    return Wrong(text, "it has a path; the instance name goes into `store.instance`");
  // The last ':' that is not within an IPv6 address.
  const size_t colon = rest.rfind(':');
  const size_t bracket = rest.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const std::string_view host = has_port ? rest.substr(0, colon) : rest;
  const std::string_view port =
      has_port ? rest.substr(colon + 1) : std::string_view(url.is_tls ? "443" : "8980");
  if (!IsHost(host)) return Wrong(text, fmt::format("\"{}\" is no host", host));
  if (!IsPort(port)) return Wrong(text, fmt::format("\"{}\" is no port", port));
  url.text = fmt::format("{}://{}", url.is_tls ? "grpcs" : "grpc", rest);
  url.target = fmt::format("dns:///{}:{}", host, port);
  url.is_local = IsLoopback(host);
  return url;
}

}  // namespace galley::store
