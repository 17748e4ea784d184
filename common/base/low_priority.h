// RunAtLowPriority: runs work that must not slow other work down.
#pragma once

#include <functional>

namespace galley {

// Runs `work` on a new thread, with a third of the usual processor share and the lowest disk
// priority above idle, and waits for its end. Existing threads that help keep their priority.
void RunAtLowPriority(const std::function<void()>& work);

}  // namespace galley
