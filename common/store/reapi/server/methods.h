// The methods that are served: for each its name on the wire, the right that it takes, how long a
// call may last, and what handles one. Everything that a call has to pass before its handler is
// made stands in this one table. No gRPC.
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
  absl::Duration idle_max;   // nothing came, and nothing could be sent
  absl::Duration whole_max;  // of a call, whatever deadline the caller gave it
};
inline constexpr CallLimits kUnaryLimits{absl::Seconds(60), absl::Seconds(60)};
inline constexpr CallLimits kStreamLimits{absl::Seconds(60), absl::Hours(1)};
// Limits of a call that waits for what may never come.
inline constexpr CallLimits kWatchLimits{absl::Hours(1), absl::Hours(1)};

struct Method {
  Right right = Right::kRead;
  CallLimits limits = kUnaryLimits;
  std::function<std::unique_ptr<CallHandler>(const Caller&)> make;
};

// The methods, by "/package.Service/Method". `store` and `uploads` outlive what it answers.
std::map<std::string, Method, std::less<>> ReapiMethods(Store& store, const ReapiOptions& options,
                                                        Uploads& uploads);

}  // namespace galley::store
