#include "common/base/descriptor_limit.h"

#include <sys/resource.h>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

// Whether a program that is started from here sees this soft limit.
int SoftLimitOfAChildIs(const std::string& expected) {
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", "test \"$(ulimit -Sn)\" = " + expected};
  auto child = ChildProcess::Start(options);
  return child.ok() ? child->Wait().code : -1;
}

TEST(DescriptorLimitTest, TheSoftLimitIsRaisedAndChildrenGetBackTheirs) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GT(limit.rlim_max, 300u) << "this machine lets programs have too few files";
  limit.rlim_cur = 300;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  RaiseDescriptorLimit();
  EXPECT_EQ(DescriptorLimitBefore(), 300u);
  EXPECT_EQ(CurrentDescriptorLimit().soft, limit.rlim_max);
  EXPECT_EQ(SoftLimitOfAChildIs("300"), 0);
}

}  // namespace
}  // namespace galley
