// DoorFigures: counts of the connections of one AcceptLoop (accept_loop.h) by their outcome.
#pragma once

#include <cstddef>
#include <cstdint>

namespace galley::listen {

// Counts since the start; `open` and `unfinished` are of now.
struct DoorFigures {
  uint64_t accepted = 0;
  uint64_t handed_over = 0;
  uint64_t refused = 0;
  uint64_t made_room = 0;      // silent connections closed for others
  uint64_t timed_out = 0;      // silent connections closed after their patience
  uint64_t no_descriptor = 0;  // closed while the process had no descriptor left
  size_t open = 0;
  size_t unfinished = 0;

  uint64_t turned_away() const { return refused + made_room + timed_out + no_descriptor; }
};

}  // namespace galley::listen
