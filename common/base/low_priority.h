// RunAtLowPriority: runs work that must not slow other work down.
#pragma once

#include <functional>

namespace galley {

// Runs `work` on a thread of its own, with a third of the usual share of processors and the lowest
// priority at disks above idle, and waits for its end. Other threads that help keep their priority.
void RunAtLowPriority(const std::function<void()>& work);

}  // namespace galley
