#include "common/base/utf8.h"

#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(Utf8Test, OnlyWellFormedUtf8IsUtf8) {
  for (const char* good : {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5", "\xc2", "\xe1\x80", "\xf1\x80\x80", "a\xc3"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

TEST(Utf8Test, CodePointsAreReadOneByOneUpToWhatIsNone) {
  const std::string_view text =
      "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xff";  // a, ü, the euro sign, a smiling face
  size_t at = 0;
  for (const char32_t expected : {U'a', U'\u00fc', U'\u20ac', U'\U0001f600'})
    EXPECT_EQ(NextCodePoint(text, at), expected);
  EXPECT_EQ(NextCodePoint(text, at), std::nullopt);
  EXPECT_EQ(at, 10u);
}

TEST(Utf8Test, WhatIsNoTextIsShownByteByByteAndTheRestStays) {
  EXPECT_EQ(EscapeInvalidUtf8("Gr\xc3\xbc\xc3\x9f dich\n"), "Gr\xc3\xbc\xc3\x9f dich\n");
  EXPECT_EQ(EscapeInvalidUtf8("caf\xe9.glsl \xff\xc3"), "caf\\xe9.glsl \\xff\\xc3");
}

}  // namespace
}  // namespace galley
