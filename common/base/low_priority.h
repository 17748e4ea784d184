// RunAtLowPriority: work that somebody may wait for, and that takes less than other work does.
#pragma once

#include <functional>

namespace galley {

// Runs `work` on a thread of its own, with a third of the share of processors that others have
// and the least of the disks, and waits for its end. What another thread does for it is not slowed
// down.
void RunAtLowPriority(const std::function<void()>& work);

}  // namespace galley
