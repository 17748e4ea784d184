#include "common/base/cancellation.h"

#include <thread>

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
  Cancellation cancellation;
  std::thread pauses([&] { cancellation.Pause(absl::Hours(1)); });
  cancellation.Cancel();
  pauses.join();
  cancellation.Pause(absl::Hours(1));
}

TEST(CancellationTest, NobodyNeedsOne) {
  Cancellation::Hook none(nullptr, [] { FAIL(); });
}

}  // namespace
}  // namespace galley
