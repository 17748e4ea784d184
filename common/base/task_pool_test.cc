#include "common/base/task_pool.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include "common/base/testing/await.h"
#include "gtest/gtest.h"

namespace galley::base {
namespace {

TEST(TaskPoolTest, ATaskRunsWhileAllOthersWaitForIt) {
  std::promise<void> last;
  const std::shared_future<void> is_there = last.get_future().share();
  std::promise<void> first, second;
  std::atomic<int> ended = 0;
  const WaitLimit limit("two tasks that wait for a third one");
  TaskPool pool(3);  // ends before the objects that its tasks use
  pool.Post([&] {
    is_there.wait();
    ++ended;
    first.set_value();
  });
  pool.Post([&] {
    is_there.wait();
    ++ended;
    second.set_value();
  });
  EXPECT_EQ(ended, 0) << "the third one has not come";
  pool.Post([&] { last.set_value(); });
  first.get_future().wait();
  second.get_future().wait();
  EXPECT_EQ(ended, 2);
}

TEST(TaskPoolTest, MoreTasksThanThreadsAreAllRun) {
  std::atomic<int> count = 0;
  std::promise<void> all;
  const WaitLimit limit("a thousand tasks");
  TaskPool pool(2);
  for (int i = 0; i < 1000; ++i) {
    pool.Post([&] {
      if (++count == 1000) all.set_value();
    });
  }
  all.get_future().wait();
  EXPECT_EQ(count, 1000);
}

// A thread that was held up between two tasks is not idle yet, and another one takes the next task:
// on a busy machine each thread gets some.
TEST(TaskPoolTest, TasksThatComeOneByOneAreDoneByFewThreads) {
  constexpr size_t kThreads = 16, kTasks = 2'000;
  std::map<std::thread::id, size_t> tasks;
  const WaitLimit limit("2,000 tasks, one after the other");
  TaskPool pool(kThreads);
  for (size_t i = 0; i < kTasks; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    pool.Post([&tasks, done] {
      ++tasks[std::this_thread::get_id()];
      done->set_value();
    });
    done->get_future().wait();
  }
  size_t most = 0;
  for (const auto& [thread, count] : tasks) most = std::max(most, count);
  EXPECT_GT(most, 2 * kTasks / kThreads) << "they do not take turns";
}

}  // namespace
}  // namespace galley::base
