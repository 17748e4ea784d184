// Addresses that a server listens on, as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace galley::listen {

// "unix:/path".
bool IsUnixAddress(std::string_view address);
// The host of "host:port" or "[host]:port"; nullopt: it is neither.
std::optional<std::string_view> HostOf(std::string_view address);
// True for a Unix address, and for "host:port" with a loopback host.
bool IsLocalAddress(std::string_view address);

}  // namespace galley::listen
