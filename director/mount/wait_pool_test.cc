#include "director/mount/wait_pool.h"

#include <atomic>
#include <latch>

#include "gtest/gtest.h"

namespace galley::mount {
namespace {

TEST(WaitPoolTest, CallsThatWaitHoldUpNoOther) {
  WaitPool pool;
  constexpr int kWaiting = 40;
  std::latch all_wait(kWaiting), go(1), quick(1);
  std::atomic<int> done = 0;
  for (int i = 0; i < kWaiting; ++i) {
    pool.Run([&] {
      all_wait.count_down();
      go.wait();
      ++done;
    });
  }
  all_wait.wait();  // all of them run at once
  pool.Run([&] { quick.count_down(); });
  quick.wait();
  go.count_down();
  pool.Stop();
  EXPECT_EQ(done, kWaiting);
}

TEST(WaitPoolTest, MoreCallsThanThreadsAllRun) {
  WaitPool pool;
  std::atomic<int> done = 0;
  for (int i = 0; i < 5'000; ++i) pool.Run([&] { ++done; });
  pool.Stop();
  EXPECT_EQ(done, 5'000);
  pool.Run([&] { ++done; });
  EXPECT_EQ(done, 5'001) << "behind the end a call runs where it is given";
}

}  // namespace
}  // namespace galley::mount
