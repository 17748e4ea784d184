// Threads that share one piece of work.
#pragma once

#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace galley {

inline std::thread StartThread(std::function<void()> work) { return std::thread(std::move(work)); }

// Runs work(0) on the caller's thread and each of work(1) .. work(count - 1) on a new thread, and
// returns when all have ended. If the system has no more threads (RLIMIT_NPROC, pids of the control
// group, memory), some calls are not made, so the calls must share the work. `start`: for tests.
inline void RunOnThreads(
    size_t count, const std::function<void(size_t)>& work,
    const std::function<std::thread(std::function<void()>)>& start = StartThread) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (size_t i = 1; i < count; ++i) threads.push_back(start([&work, i] { work(i); }));
  } catch (const std::system_error&) {
    // The started threads and the caller's thread do all the work.
  }
  work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace galley
