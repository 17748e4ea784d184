// RemoteWarnings: texts for people about the remote store: since when it is down, and the warnings
// at the end of a cook. A cook is right without the remote store, so nothing here is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/store/interface/remote_cache.h"

namespace galley::director {

// Returns "down since 14:05"; empty: the remote is not down. `monotonic` and `now`: the same
// moment, by the clock of `state` and by the wall clock.
std::string RemoteDownText(const store::RemoteState& state, absl::Time monotonic, absl::Time now,
                           absl::TimeZone zone);

// Returns the warnings. `down`: from RemoteDownText.
std::vector<std::string> RemoteWarnings(const store::RemoteState& state, std::string_view down);

}  // namespace galley::director
