// ReapiMethods: the table of served methods: for each method its name on the wire, the right that
// it needs, the limits of a call, and its handler. Every check of a call before its handler is made
// is in this table. No gRPC.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/store/reapi/server/call_handler.h"
#include "common/store/reapi/server/gate.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/store/reapi/server/uploads.h"

namespace galley::store {

struct CallLimits {
  absl::Duration idle_max;   // without a message in or out
  absl::Duration whole_max;  // of a call, whatever its deadline
};
inline constexpr CallLimits kUnaryLimits{absl::Seconds(60), absl::Seconds(60)};
inline constexpr CallLimits kStreamLimits{absl::Seconds(60), absl::Hours(1)};
// Limits of a call that waits for an event which may never come.
inline constexpr CallLimits kWatchLimits{absl::Hours(1), absl::Hours(1)};

struct Method {
  Right right = Right::kRead;
  CallLimits limits = kUnaryLimits;
  std::function<std::unique_ptr<CallHandler>(const Caller&)> make;
};

// Returns the methods by "/package.Service/Method". `store` and `uploads` must outlive the table.
std::map<std::string, Method, std::less<>> ReapiMethods(Store& store, const ReapiOptions& options,
                                                        Uploads& uploads);

}  // namespace galley::store
