#include "common/vfs/url.h"

#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

TEST(UrlTest, HostAndPort) {
  const auto url = ParseUrl("http://127.0.0.1:8080");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->authority, "127.0.0.1:8080");
  EXPECT_FALSE(url->is_tls);
  EXPECT_EQ(ParseUrl("https://cook.example/")->port, 443);
  EXPECT_EQ(ParseUrl("http://localhost")->port, 80);
}

TEST(UrlTest, AnAddressInBrackets) {
  const auto url = ParseUrl("http://[::1]:8080");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->authority, "[::1]:8080");
}

TEST(UrlTest, WhatIsNoUrlOfADirectorIsRefused) {
  for (const char* text : {"", "127.0.0.1:8080", "ftp://a", "http://", "http://a/b", "http://a:0",
                           "http://a:65536", "http://a:x", "http://a b", "http://a\r\nX: y",
                           "http://user@a", "http://[::1", "http://::1"})
    EXPECT_FALSE(ParseUrl(text)) << text;
}

TEST(UrlTest, APathIsEncodedButForItsSlashes) {
  EXPECT_EQ(EncodePath("Game/a b%/\xc3\xa4.png?"), "Game/a%20b%25/%C3%A4.png%3F");
}

}  // namespace
}  // namespace galley::vfs
