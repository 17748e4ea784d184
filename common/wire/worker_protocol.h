// The protocol of directors and workers (proto/galley/v1/worker.proto). Raised when a worker of an
// earlier build would not understand a director, or would do something else than it is told: such a
// worker, which may have survived its director, is not taken on.
#pragma once

#include <cstdint>

namespace galley::wire {

inline constexpr uint32_t kWorkerProtocol = 6;

// Metadata behind a stream that was not taken now (RESOURCE_EXHAUSTED): in so many milliseconds the
// worker is to come again.
inline constexpr const char* kComeAgainMs = "galley-come-again-ms";

}  // namespace galley::wire
