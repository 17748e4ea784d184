#include "common/http/host.h"

#include <vector>

#include "gtest/gtest.h"

namespace galley::http {
namespace {

bool Allows(std::string_view own, std::string_view asked, uint16_t default_port = 80) {
  const auto allowed = ParseHost(own);
  const auto host = ParseHost(asked);
  EXPECT_TRUE(allowed && host) << own << " " << asked;
  return allowed && host && IsAllowedHost(*host, std::vector<Host>{*allowed}, default_port);
}

TEST(HostTest, AHostIsANameOrAnAddressAndPerhapsAPort) {
  EXPECT_EQ(ParseHost("Cook.Studio")->name, "cook.studio");
  EXPECT_EQ(ParseHost("Cook.Studio")->port, std::nullopt);
  EXPECT_EQ(ParseHost("127.0.0.1:8080")->name, "127.0.0.1");
  EXPECT_EQ(ParseHost("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(ParseHost("[FE80::1]")->name, "[fe80::1]");
  EXPECT_EQ(ParseHost("[::ffff:127.0.0.1]:65535")->port, 65535);
  EXPECT_EQ(ParseHost("localhost:")->port, std::nullopt);
}

TEST(HostTest, OtherTextsAreNoHost) {
  for (const char* text : {"",
                           ":",
                           ":80",
                           "a:b",
                           "a:-1",
                           "a:+1",
                           "a: 1",
                           "a:65536",
                           "a:80:80",
                           "a b",
                           "a/b",
                           "user@a",
                           "http://a",
                           "a,\tb",
                           "[",
                           "[]",
                           "[]:80",
                           "[::1",
                           "::1",
                           "[::1]80",
                           "[::1]:x",
                           "[a]b",
                           "[fe80::1%25eth0]",
                           "\xc3\xa4",
                           "a\x01"}) {
    EXPECT_FALSE(ParseHost(text)) << text;
  }
}

TEST(HostTest, NamesAreComparedWithoutCase) {
  EXPECT_TRUE(Allows("LocalHost", "lOCALhOST"));
  EXPECT_TRUE(Allows("[fe80::A]", "[FE80::a]"));
  EXPECT_FALSE(Allows("localhost", "localhost.evil.example"));
  EXPECT_FALSE(Allows("localhost", "evil.localhost"));
  EXPECT_FALSE(Allows("localhost", "localhost."));
  EXPECT_FALSE(Allows("127.0.0.1", "127.0.0.01"));
}

TEST(HostTest, AnAllowedHostWithoutAPortStandsForEveryPort) {
  for (const char* host : {"cook.studio", "cook.studio:80", "cook.studio:9999", "cook.studio:"})
    EXPECT_TRUE(Allows("cook.studio", host)) << host;
}

TEST(HostTest, AnAllowedHostWithAPortStandsForThatPortOnly) {
  EXPECT_TRUE(Allows("cook.studio:8080", "cook.studio:8080"));
  EXPECT_FALSE(Allows("cook.studio:8080", "cook.studio:8081"));
  EXPECT_FALSE(Allows("cook.studio:8080", "cook.studio"));
}

TEST(HostTest, AHostWithoutAPortMeansTheDefaultOne) {
  EXPECT_TRUE(Allows("cook.studio:80", "cook.studio"));
  EXPECT_TRUE(Allows("cook.studio:443", "cook.studio:", 443));
  EXPECT_FALSE(Allows("cook.studio:443", "cook.studio"));
}

TEST(HostTest, WithoutAllowedHostsNoHostIsAllowed) {
  EXPECT_FALSE(IsAllowedHost(*ParseHost("localhost"), {}, 80));
}

}  // namespace
}  // namespace galley::http
