// Free memory that the allocators hold for later.
//
// Threads: any.
#pragma once

namespace galley {

// Free memory goes back to the system, as far as this thread may tell. Cost: a look at its whole
// heap, and a fault for each page that is used again.
void GiveBackMemory();

// From now on memory that becomes free goes back at once, in all threads, or after a while, as at
// the start. The first costs about a tenth of the time of a director that is busy.
void HoldNoFreeMemory(bool at_once);

}  // namespace galley
