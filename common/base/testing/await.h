// Limits for the waits of tests: a test that would hang fails with a sentence that names what it
// waited for.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace galley {

// The limit of a wait: far from what any wait takes, on a slow or busy machine too.
inline constexpr absl::Duration kWaitMax = absl::Seconds(60);

inline std::string InVain(std::string_view what, absl::Duration limit) {
  return fmt::format("waited {} in vain for {}", absl::FormatDuration(limit), what);
}

// Looks at `condition` every millisecond until it holds. False: the limit has passed, and the test
// has failed. For tests that can go on, or end in order, then.
template <typename Condition>
bool AwaitOrFail(const Condition& condition, std::string_view what,
                 absl::Duration limit = kWaitMax) {
  SystemClock clock;
  const absl::Time end = clock.Monotonic() + limit;
  while (!condition()) {
    if (clock.Monotonic() >= end) {
      ADD_FAILURE() << InVain(what, limit);
      return false;
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

// WaitLimit: for as long as it lives, the test waits for `what`. It aborts the program when that
// takes longer than the limit, because a thread that hangs would hold up the test's end, too.
class WaitLimit {
 public:
  explicit WaitLimit(std::string what, absl::Duration limit = kWaitMax)
      : watch_([this, what = std::move(what), limit] { Watch(what, limit); }) {}
  ~WaitLimit() {
    {
      const base::MutexLock lock(mutex_);
      is_over_ = true;
    }
    over_.NotifyAll();
    watch_.join();
  }
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;

 private:
  void Watch(const std::string& what, absl::Duration limit) {
    SystemClock clock;
    const absl::Time end = clock.Monotonic() + limit;
    const base::MutexLock lock(mutex_);
    while (!is_over_) {
      const absl::Duration left = end - clock.Monotonic();
      if (left <= absl::ZeroDuration()) Abort(InVain(what, limit));
      over_.WaitFor(mutex_, absl::ToChronoNanoseconds(left));
    }
  }
  [[noreturn]] static void Abort(const std::string& text) {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::fflush(stdout);
    std::fprintf(stderr, "%s.%s: %s\n", test == nullptr ? "no test" : test->test_suite_name(),
                 test == nullptr ? "" : test->name(), text.c_str());
    std::abort();
  }

  base::Mutex mutex_;
  base::CondVar over_;
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

}  // namespace galley
