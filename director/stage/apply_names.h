// Names below a folder that are Galley's own: what a patch must not bring.
#pragma once

#include <string_view>

#include "director/stage/ledger.h"

namespace galley::director {

// Where a patch that is being applied keeps what it has made so far.
inline constexpr std::string_view kApplyFolder = ".galley-apply";

inline bool IsOwnPath(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('/'));
  return top == kApplyFolder || top == kMarkerName || top == kPendingName;
}

}  // namespace galley::director
