// RemoteUrl: the address of a remote store. Pure.
//
//   grpc://host[:port]    plain; port 8980 when none is given
//   grpcs://host[:port]   TLS; port 443 when none is given
//   unix:/path            a socket of this machine
//
// Host: a name, an IPv4 address, or [an IPv6 address]. No user, no path, no query: an instance name
// and credentials have keys of their own.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::store {

struct RemoteUrl {
  std::string text;    // for people: as given, without a trailing '/'
  std::string target;  // for gRPC: "dns:///host:port" or "unix:/path"
  bool is_tls = false;
  bool is_local = false;  // a loopback address or a socket: sent bytes stay on this machine
};

// INVALID_ARGUMENT names the expected form, and never repeats a password.
absl::StatusOr<RemoteUrl> ParseRemoteUrl(std::string_view text);

}  // namespace galley::store
