// Host: the name and the port for which a request is meant, and those for which a server answers.
//
// A browser sends the name of the page that it shows, also when the owner of that name lets DNS
// point to a loopback address. A server that answers for its own names only is safe from such a
// page.
// Threads: none; pure functions.   Source: RFC 9110, 7.2 and 15.5.20; RFC 3986, 3.2.2 and 3.2.3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace galley::http {

struct Host {
  std::string name;              // "cook.studio", "127.0.0.1", "[::1]": ASCII in lower case
  std::optional<uint16_t> port;  // nullopt: none was written
};

// The host of "name", "name:port", "[::1]" or "[::1]:port"; "name:" is a host without a port.
// nullopt: `text` is something else. Addresses stay as they were written: "[0::1]" is not "[::1]".
std::optional<Host> ParseHost(std::string_view text);

// Whether `host` is in `allowed`. An allowed host without a port stands for that name with any
// port, since a forwarded port has another number on the client's side. One with a port stands for
// that port only; a `host` without a port means `default_port`, which is 80 for http.
bool IsAllowedHost(const Host& host, std::span<const Host> allowed, uint16_t default_port);

}  // namespace galley::http
