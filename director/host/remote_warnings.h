// RemoteWarnings: what people are told about the remote store: that the store is down, and the
// warnings when a cook ends. A cook is right without the remote store, so nothing here is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/store/interface/remote_cache.h"

namespace galley::director {

// Returns "down since 14:05"; empty: the remote is not down. `now`: the wall clock's time,
// `monotonic`: the time of the state's clock.
std::string RemoteDownText(const store::RemoteState& state, absl::Time monotonic, absl::Time now,
                           absl::TimeZone zone);

// `down`: "down since 14:05"; empty: the remote is not down.
std::vector<std::string> RemoteWarnings(const store::RemoteState& state, std::string_view down);

}  // namespace galley::director
