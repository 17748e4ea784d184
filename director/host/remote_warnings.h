// What people are told about the remote store: that it is down, and the warnings when a cook ends.
// A cook is right without that store, so they are no errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/store/interface/remote_cache.h"

namespace galley::director {

// "down since 14:05"; empty: it is not. `now`: the wall clock's, `monotonic` that of the state.
std::string RemoteDownText(const store::RemoteState& state, absl::Time monotonic, absl::Time now,
                           absl::TimeZone zone);

// `down`: "down since 14:05"; empty: it is not.
std::vector<std::string> RemoteWarnings(const store::RemoteState& state, std::string_view down);

}  // namespace galley::director
