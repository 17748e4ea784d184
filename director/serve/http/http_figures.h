// HttpDoorFigures: counts of an HttpDoor since it opened; `open` and `streams` are of now.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace galley::director {

struct HttpDoorFigures {
  std::array<uint64_t, 4> answers{};  // by the class of their status: 2xx, 3xx, 4xx, 5xx
  uint64_t sent_bytes = 0;            // heads and bodies, before TLS
  uint64_t left = 0;                  // clients that left before their answer
  uint64_t accepted = 0;              // connections
  uint64_t refused = 0;               // connections that found no room
  uint64_t made_room = 0;             // idle connections that were closed for others
  uint64_t timed_out = 0;             // connections
  uint64_t open = 0;                  // connections
  uint64_t streams = 0;               // event streams that are open
};

// The same while it is counted. Threads: any.
struct HttpDoorCounters {
  std::array<std::atomic<uint64_t>, 4> answers{};
  std::atomic<uint64_t> sent_bytes{0};
  std::atomic<uint64_t> left{0};
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> made_room{0};
  std::atomic<uint64_t> timed_out{0};
  std::atomic<uint64_t> open{0};
  std::atomic<uint64_t> streams{0};
  std::atomic<uint64_t> coded_bytes{0};  // bytes that are coded, or wait coded for their client
};

}  // namespace galley::director
