// GiveBackMemory: free memory that the allocators hold for later goes back to the system.
//
// Cost: a look at the whole heap of this thread, and a fault for each page that is used again.
// Threads: any; memory that other threads hold is left to them.
#pragma once

namespace galley {

void GiveBackMemory();

}  // namespace galley
