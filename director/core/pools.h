// Pools: where a worker comes from, which its id tells. The core gives the ids of the workers that
// it asks for (Spawn), densely from the beginning of their pool on; the shell gives the ids of
// workers that come by themselves.
// Threads: none; values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "director/core/ids.h"

namespace galley::director {

enum class Pool : uint8_t {
  kLocal,     // started on the director's machine
  kLaunched,  // brought up on the farm, and without the director's files
  kForeign,   // came by themselves
};
inline constexpr size_t kPoolCount = 3;
inline constexpr uint32_t kLaunchedWorkers = 1u << 30;
inline constexpr uint32_t kForeignWorkers = 1u << 31;
inline Pool PoolOf(WorkerId worker) {
  return worker.value() >= kForeignWorkers    ? Pool::kForeign
         : worker.value() >= kLaunchedWorkers ? Pool::kLaunched
                                              : Pool::kLocal;
}
inline bool IsForeign(WorkerId worker) { return PoolOf(worker) == Pool::kForeign; }

}  // namespace galley::director
