#pragma once

#include <string>

namespace galley {

// The path without links; where that cannot be found out (nothing is there), AbsolutePath.
std::string RealPath(const std::string& path);

}  // namespace galley
