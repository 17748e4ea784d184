#include "common/listen/listen_address.h"

#include <charconv>
#include <cstdint>

#include "common/base/parse_whole.h"

namespace galley::listen {
namespace {

constexpr std::string_view kUnix = "unix:";

// Four numbers, the first of which is 127: names that only begin like it are somebody's.
bool IsLoopbackV4(std::string_view host) {
  size_t numbers = 0;
  bool is_127 = false;
  while (true) {
    uint8_t number = 0;
    const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), number);
    if (error != std::errc()) return false;
    if (numbers == 0) is_127 = number == 127;
    ++numbers;
    host.remove_prefix(static_cast<size_t>(end - host.data()));
    if (host.empty()) return numbers == 4 && is_127;
    if (host.front() != '.') return false;
    host.remove_prefix(1);
  }
}

}  // namespace

std::optional<std::string_view> HostOf(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  if (!ParseWhole<uint16_t>(address.substr(colon + 1))) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  if (host.empty() || host.find(':') != std::string_view::npos) return std::nullopt;
  return host;
}

bool IsUnixAddress(std::string_view address) { return address.starts_with(kUnix); }

bool IsLocalAddress(std::string_view address) {
  if (IsUnixAddress(address)) return true;
  const std::optional<std::string_view> host = HostOf(address);
  return host.has_value() && (*host == "localhost" || *host == "::1" || IsLoopbackV4(*host));
}

}  // namespace galley::listen
