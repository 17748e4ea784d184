#include "common/store/reapi/server/listeners.h"

#include <charconv>
#include <optional>

#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kUnix = "unix:";

// The host of "host:port" or "[host]:port"; nullopt: it is neither.
std::optional<std::string_view> HostOf(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view port = address.substr(colon + 1);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  if (host.empty() || host.find(':') != std::string_view::npos) return std::nullopt;
  return host;
}

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

bool IsUnixAddress(std::string_view address) { return address.starts_with(kUnix); }

bool IsLocalAddress(std::string_view address) {
  if (IsUnixAddress(address)) return true;
  const std::optional<std::string_view> host = HostOf(address);
  return host.has_value() && (*host == "localhost" || *host == "::1" || IsLoopbackV4(*host));
}

absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities) {
  if (!IsUnixAddress(address) && !HostOf(address).has_value()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected HOST:PORT, [HOST]:PORT or unix:PATH as address to listen on", address));
  }
  if (IsLocalAddress(address) || (has_tls && has_identities)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{}: others than this machine may reach it: it needs {}", address,
                  has_tls ? "identities (--identities)" : "TLS (--tls-cert, --tls-key)"));
}

}  // namespace galley::store
