// NotifyServiceManager: tells systemd how a service is doing, in its datagram protocol.
//
// Source: sd_notify(3).
#pragma once

#include <string_view>

namespace galley::cli {

// "READY=1", "STOPPING=1". Does nothing where no service manager listens ($NOTIFY_SOCKET).
void NotifyServiceManager(std::string_view state);

}  // namespace galley::cli
