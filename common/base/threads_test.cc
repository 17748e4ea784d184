#include "common/base/threads.h"

#include <atomic>
#include <set>

#include "common/base/mutex.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

// Checks that each piece of work is done once, whoever does it. Returns the calls that were made.
std::set<size_t> CallsWith(size_t count, int threads_max) {
  constexpr int kPieces = 1'000;
  std::atomic<int> next = 0;
  std::atomic<int> done = 0;
  base::Mutex mutex;
  std::set<size_t> calls;
  int started = 0;
  RunOnThreads(
      count,
      [&](size_t call) {
        {
          base::MutexLock lock(mutex);
          calls.insert(call);
        }
        while (next++ < kPieces) ++done;
      },
      [&](std::function<void()> work) {
        if (started++ >= threads_max)
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        return StartThread(std::move(work));
      });
  EXPECT_EQ(done, kPieces);
  return calls;
}

TEST(ThreadsTest, EachCallHasANumber) {
  EXPECT_EQ(CallsWith(4, 100), std::set<size_t>({0, 1, 2, 3}));
  EXPECT_EQ(CallsWith(1, 100), std::set<size_t>({0}));
}

TEST(ThreadsTest, WhereThereAreNoMoreThreadsTheOthersDoTheWork) {
  EXPECT_EQ(CallsWith(4, 2), std::set<size_t>({0, 1, 2}));
  EXPECT_EQ(CallsWith(4, 0), std::set<size_t>({0}));
}

}  // namespace
}  // namespace galley
