// gRPC's health and reflection services, as handlers behind the same gate as all others; the
// services that come with gRPC cannot be refused to a caller. A service is served until the server
// ends.
#pragma once

#include <memory>

#include "common/store/reapi/server/call_handler.h"

namespace galley::store {

// NOT_FOUND: the service is not served.
std::unique_ptr<CallHandler> NewHealthCheck();
// Sends the status once: it never changes.
std::unique_ptr<CallHandler> NewHealthWatch();
std::unique_ptr<CallHandler> NewReflection();

}  // namespace galley::store
