// Decides when free memory, which the allocators hold for later use, goes back to the system.
//
// Threads: any.
#pragma once

namespace galley {

// Returns free memory to the system, as far as this thread can. Cost: a walk of the thread's heap,
// and a page fault for each page that is used again.
void GiveBackMemory();

// Sets the delay after which free memory is returned to one second, unless the environment sets it
// (MIMALLOC_DECOMMIT_DELAY). The allocator's own 25 ms are shorter than the time between two groups
// of results: each group faulted in again the memory of the last. Call before threads are started.
void HoldFreeMemoryForASecond();

// Sets, for all threads, whether free memory is returned at once or after the delay at the start.
// At once costs a busy director about a tenth of its time.
void HoldNoFreeMemory(bool at_once);

}  // namespace galley
