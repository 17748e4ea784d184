#include "common/base/own_umask.h"

#include <sys/stat.h>

#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(OwnUmaskTest, TheMaskIsReadAndStays) {
  const mode_t before = ::umask(027);
  EXPECT_EQ(OwnUmask(), 027u);
  EXPECT_EQ(OwnUmask(), 027u);
  ::umask(0);
  EXPECT_EQ(OwnUmask(), 0u);
  ::umask(before);
}

}  // namespace
}  // namespace galley
