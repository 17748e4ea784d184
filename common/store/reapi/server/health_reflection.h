// gRPC's health and reflection services, as handlers behind the same gate as all others (those that
// gRPC brings along cannot be refused to anybody). What is served is served until the server ends.
#pragma once

#include <memory>

#include "common/store/reapi/server/call_handler.h"

namespace galley::store {

// NOT_FOUND: a service that is not served.
std::unique_ptr<CallHandler> NewHealthCheck();
// The status, and then nothing: it does not change.
std::unique_ptr<CallHandler> NewHealthWatch();
std::unique_ptr<CallHandler> NewReflection();

}  // namespace galley::store
