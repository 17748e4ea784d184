// Verifies bytes against a digest, wherever bytes leave a store.
#pragma once

#include <string_view>

#include "common/base/digest.h"
#include "common/base/sabotage.h"

namespace galley::store {

inline bool AreBytesOf(const Digest& digest, std::string_view bytes) {
  return IsSabotaged(Sabotage::kSkipHashCheck) || Digest::Of(bytes) == digest;
}

}  // namespace galley::store
