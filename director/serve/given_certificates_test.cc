#include "director/serve/given_certificates.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(GivenCertificatesTest, TheOneBeforeIsGoodUntilTheOneAfterTheNextIsSeen) {
  GivenCertificates given;
  EXPECT_FALSE(given.Use("a"));
  EXPECT_FALSE(given.Renew("", "a"));
  EXPECT_TRUE(given.Enroll("request", "a"));
  EXPECT_TRUE(given.Use("a"));
  EXPECT_TRUE(given.Renew("a", "b"));
  EXPECT_TRUE(given.Use("a") && given.Use("b") && given.Use("a"));
  EXPECT_TRUE(given.Renew("b", "c"));
  EXPECT_TRUE(given.Use("a")) << "nobody has shown the next one yet";
  EXPECT_TRUE(given.Use("c") && given.Use("b"));
  EXPECT_FALSE(given.Use("a") || given.Use(""));
}

TEST(GivenCertificatesTest, ARenewalThatComesLateVoidsNothing) {
  GivenCertificates given;
  given.Enroll("request", "a");
  EXPECT_TRUE(given.Use("a"));
  EXPECT_TRUE(given.Renew("a", "b"));
  EXPECT_TRUE(given.Renew("a", "late")) << "b was not seen: its answer may be lost";
  EXPECT_TRUE(given.Use("b")) << "it was not";
  EXPECT_FALSE(given.Use("late"));
  EXPECT_FALSE(given.Renew("a", "later"));
  EXPECT_TRUE(given.Use("b") && given.Use("a"));
}

TEST(GivenCertificatesTest, OneProcessMayAskAgainForItsFirstAndAnotherShutsItOut) {
  GivenCertificates given;
  EXPECT_TRUE(given.Enroll("request", "lost"));
  EXPECT_TRUE(given.Enroll("request", "a"));
  EXPECT_TRUE(given.Use("a"));
  EXPECT_TRUE(given.Enroll("request", "late"));
  EXPECT_TRUE(given.Use("a"));
  EXPECT_FALSE(given.Enroll("request of a thief", "other"));
  EXPECT_FALSE(given.Use("a") || given.Use("late"));
  EXPECT_TRUE(given.Use("other"));
}

TEST(GivenCertificatesTest, NobodyHasManyThatNobodyUses) {
  GivenCertificates given;
  given.Enroll("request", "a");
  EXPECT_TRUE(given.Use("a"));
  for (size_t i = 0; i <= GivenCertificates::kOfferedMax; ++i)
    EXPECT_TRUE(given.Renew("a", "offered " + std::to_string(i)));
  EXPECT_FALSE(given.Use("offered 0"));
  EXPECT_TRUE(given.Use("offered 1"));
}

}  // namespace
}  // namespace galley::director
