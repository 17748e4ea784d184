// NotifyServiceManager: tells systemd the state of a service, in its datagram protocol.
//
// Source: sd_notify(3).
#pragma once

#include <string_view>

namespace galley::cli {

// `state`: "READY=1", "STOPPING=1". Does nothing when no service manager listens ($NOTIFY_SOCKET).
void NotifyServiceManager(std::string_view state);

}  // namespace galley::cli
