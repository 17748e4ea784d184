#include "director/mount/interrupted_callers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>

#include "gtest/gtest.h"

namespace galley::mount {
namespace {

TEST(InterruptedCallersTest, ACallerThatDiesIsEndedOnce) {
  std::atomic<bool> is_dying = false;
  std::atomic<int> looks = 0, ended = 0;
  std::latch looked(3), has_ended(1);
  InterruptedCallers callers([&](pid_t) {
    if (++looks <= 3) looked.count_down();
    return is_dying.load();
  });
  callers.Add({.thread = 1,
               .is_over = [] { return false; },
               .end =
                   [&] {
                     if (++ended == 1) has_ended.count_down();
                   }});
  looked.wait();  // a signal alone ends nothing
  EXPECT_EQ(ended, 0);
  is_dying = true;
  has_ended.wait();
  callers.Stop();
  EXPECT_EQ(ended, 1);
}

TEST(InterruptedCallersTest, ACallThatIsOverIsLetGo) {
  int ended = 0;
  {
    InterruptedCallers callers([](pid_t) { return true; });
    callers.Add({.thread = 1, .is_over = [] { return true; }, .end = [&] { ++ended; }});
    callers.Stop();
    callers.Add({.thread = 1, .is_over = [] { return false; }, .end = [&] { ++ended; }});
  }
  EXPECT_EQ(ended, 1) << "one that dies already is ended at once";
}

TEST(InterruptedCallersTest, ProcessesThatDieAreSeen) {
  EXPECT_FALSE(IsDying(::getpid()));
  EXPECT_TRUE(IsDying(0)) << "nothing can be seen of it";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(IsDying(child)) << "it is gone";
}

}  // namespace
}  // namespace galley::mount
