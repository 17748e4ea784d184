// Counts of what came of the connections of one door (accept_loop.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace galley::listen {

// Since the start, but for the last two.
struct DoorFigures {
  uint64_t accepted = 0;
  uint64_t handed_over = 0;
  uint64_t refused = 0;
  uint64_t made_room = 0;      // silent ones, closed for others
  uint64_t timed_out = 0;      // silent ones, closed after their patience
  uint64_t no_descriptor = 0;  // met while the process had none left
  size_t open = 0;
  size_t unfinished = 0;

  uint64_t turned_away() const { return refused + made_room + timed_out + no_descriptor; }
};

}  // namespace galley::listen
