// RunAtLowPriority: work that somebody may wait for, and everything else goes before.
#pragma once

#include <functional>

namespace galley {

// Runs `work` on a thread of its own, with the least share of processors and disks, and waits for
// its end. What another thread does for it is not slowed down.
void RunAtLowPriority(const std::function<void()>& work);

}  // namespace galley
