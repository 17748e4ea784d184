#include "director/shell/default_limits.h"

namespace galley::director {

uint64_t LimitOf(KeptLimit::Kind kind, const project::Needs& needs, const DefaultLimits& defaults) {
  if (kind == KeptLimit::Kind::kMemory)
    return needs.memory_bytes > 0 ? needs.memory_bytes : defaults.memory_bytes;
  const bool is_set = needs.timeout > absl::ZeroDuration();
  return static_cast<uint64_t>(
      absl::ToInt64Milliseconds(is_set ? needs.timeout : defaults.timeout));
}

}  // namespace galley::director
