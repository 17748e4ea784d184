#include "common/base/last_words.h"

#include <sys/resource.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "gtest/gtest.h"

namespace galley {
namespace {

// Throws on a thread where nobody catches the exception, as a library may.
template <typename Thrown>
void ThrowInAThread(const Thrown& thrown) {
  SetLastWords("galley", 3);
  std::thread([&thrown] { throw thrown; }).join();
}

TEST(LastWordsDeathTest, NoMemoryOrThreadIsOneSentenceAndAnExitCode) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(ThrowInAThread(std::bad_alloc()), testing::ExitedWithCode(3),
              "^galley: ended, since there is no memory left");
  EXPECT_EXIT(ThrowInAThread(std::system_error(
                  std::make_error_code(std::errc::resource_unavailable_try_again))),
              testing::ExitedWithCode(3), "^galley: ended, since no more threads can be started");
}

TEST(LastWordsDeathTest, AnAbortIsOneWhereTheAddressSpaceIsLimitedAndElseABug) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(ThrowInAThread(std::logic_error("a bug")), testing::KilledBySignal(SIGABRT), "a bug");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const auto abort_within_limits = [] {
    const rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    SetLastWords("galley", 3);
    std::abort();
  };
  EXPECT_EXIT(abort_within_limits(), testing::ExitedWithCode(3),
              "most likely for want of memory; its address space is limited to 4096 MiB");
#endif
}

}  // namespace
}  // namespace galley
