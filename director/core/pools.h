// Pools: a worker's id tells where the worker comes from. The core gives ids to the workers that it
// asks for (Spawn), upward from the first id of their pool; the shell gives ids to the workers that
// attach unasked.
// Threads: none; values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "director/core/ids.h"

namespace galley::director {

enum class Pool : uint8_t {
  kLocal,     // started on the director's machine
  kLaunched,  // started on the farm, without the director's files
  kForeign,   // attached unasked
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
