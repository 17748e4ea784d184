#include "common/base/cancellation.h"

#include <atomic>
#include <thread>

#include "common/base/testing/await.h"
#include "gmock/gmock.h"

namespace galley {
namespace {

TEST(CancellationTest, HooksRunWhenItIsCancelledAndNoneThatIsGone) {
  Cancellation cancellation;
  int first = 0, second = 0, late = 0;
  Cancellation::Hook stays(&cancellation, [&] { ++first; });
  {
    Cancellation::Hook goes(&cancellation, [&] { ++second; });
  }
  EXPECT_FALSE(cancellation.is_cancelled());
  cancellation.Cancel();
  EXPECT_TRUE(cancellation.is_cancelled());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  Cancellation::Hook comes_late(&cancellation, [&] { ++late; });
  EXPECT_EQ(late, 1) << "at once: nobody cancels a second time";
}

TEST(CancellationTest, APauseEndsWithIt) {
  const WaitLimit limit("the end of pauses that are cancelled");
  Cancellation cancellation;
  std::atomic<int> ended = 0;
  const auto pause = [&] {
    cancellation.Pause(absl::Hours(1));
    ++ended;
  };
  std::thread pauses(pause);
  EXPECT_EQ(ended, 0) << "nobody has cancelled it";
  cancellation.Cancel();
  pauses.join();
  EXPECT_EQ(ended, 1);
  pause();
  EXPECT_EQ(ended, 2) << "it was cancelled before it began";
}

// A waiter asks under the mutex that the hook locks in order to wake the waiter.
TEST(CancellationTest, ItAnswersWhileAHookRuns) {
  const WaitLimit limit("the answer of a cancellation whose hook runs");
  Cancellation cancellation;
  std::atomic<bool> is_in_hook = false, was_asked = false;
  Cancellation::Hook hook(&cancellation, [&] {
    is_in_hook = true;
    is_in_hook.notify_all();
    was_asked.wait(false);
  });
  std::thread cancels([&] { cancellation.Cancel(); });
  is_in_hook.wait(false);
  EXPECT_TRUE(cancellation.is_cancelled());
  was_asked = true;
  was_asked.notify_all();
  cancels.join();
}

TEST(CancellationTest, NobodyNeedsOne) {
  Cancellation::Hook none(nullptr, [] { FAIL(); });
}

}  // namespace
}  // namespace galley
