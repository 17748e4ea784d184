// The protocol of directors and workers (proto/galley/v1/worker.proto). Raised when a worker of an
// earlier build would misunderstand a director: such a worker, which may have survived its
// director, is refused.
#pragma once

#include <cstdint>

namespace galley::wire {

inline constexpr uint32_t kWorkerProtocol = 6;

// Trailing metadata of a stream that was refused for now (RESOURCE_EXHAUSTED): the worker comes
// again after so many milliseconds.
inline constexpr const char* kComeAgainMs = "galley-come-again-ms";

}  // namespace galley::wire
