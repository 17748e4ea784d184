// Threads for one piece of work that is better done by several.
#pragma once

#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace galley {

inline std::thread StartThread(std::function<void()> work) { return std::thread(std::move(work)); }

// Runs work(0) on the caller's thread and work(1) .. work(count - 1) each on one of its own, and
// returns when all have ended. Where the system has no more threads (RLIMIT_NPROC, pids of the
// control group, memory) there are fewer calls: so the calls must share what is to be done.
// `start`: tests.
inline void RunOnThreads(
    size_t count, const std::function<void(size_t)>& work,
    const std::function<std::thread(std::function<void()>)>& start = StartThread) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (size_t i = 1; i < count; ++i) threads.push_back(start([&work, i] { work(i); }));
  } catch (const std::system_error&) {
    // The threads that were started do all the work together with this one.
  }
  work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace galley
