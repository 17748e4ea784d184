#pragma once

#include <string>

namespace galley {

// The path with all links resolved; AbsolutePath if that fails, as for an absent path.
std::string RealPath(const std::string& path);

}  // namespace galley
