// Free memory that the allocators hold for later.
//
// Threads: any.
#pragma once

namespace galley {

// Free memory goes back to the system, as far as this thread may tell. Cost: a look at its whole
// heap, and a fault for each page that is used again.
void GiveBackMemory();

// Free memory goes back a second after it became free, unless it is used again, or after as long as
// the environment says (MIMALLOC_DECOMMIT_DELAY). The allocator's own 25 ms are less than the time
// between two groups of results: what one gave back, the next one faulted in again. Before threads
// are started.
void HoldFreeMemoryForASecond();

// From now on memory that becomes free goes back at once, in all threads, or after a while, as at
// the start. The first costs about a tenth of the time of a director that is busy.
void HoldNoFreeMemory(bool at_once);

}  // namespace galley
