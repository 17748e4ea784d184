// The warnings about the remote store when a cook ends. A cook is right without that store, so they
// are no errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/store/interface/remote_cache.h"

namespace galley::cli {

// `down`: "down since 14:05"; empty: it is not.
std::vector<std::string> RemoteWarnings(const store::RemoteState& state, std::string_view down);

}  // namespace galley::cli
