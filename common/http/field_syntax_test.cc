#include "common/http/field_syntax.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FieldSyntaxTest, ATokenHasNoSpacesAndNoDelimiters) {
  for (const char* text : {"Host", "x-y_z", "!#$%&'*+-.^_`|~", "0"}) EXPECT_TRUE(IsToken(text));
  for (const char* text : {"", "a b", "a:", "a,b", "\"a\"", "a/b", "\x01", "\xc3\xa4"})
    EXPECT_FALSE(IsToken(text)) << text;
}

TEST(FieldSyntaxTest, DigitsHaveNoSignAndNoSpace) {
  for (const char* text : {"0", "007", "123456789012345678901234567890"})
    EXPECT_TRUE(IsDigits(text)) << text;
  for (const char* text : {"", "+1", "-1", " 1", "1 ", "1.0", "0x1", "a", "\xd9\xa5"})
    EXPECT_FALSE(IsDigits(text)) << text;
}

TEST(FieldSyntaxTest, LettersAreComparedWithoutCaseAndOtherBytesExactly) {
  EXPECT_TRUE(EqualsIgnoringCase("Content-Length", "content-lENGTH"));
  EXPECT_TRUE(EqualsIgnoringCase("", ""));
  EXPECT_FALSE(EqualsIgnoringCase("host", "hosts"));
  EXPECT_FALSE(EqualsIgnoringCase("[", "{"));                // differ by the bit of the case
  EXPECT_FALSE(EqualsIgnoringCase("\xc3\x84", "\xc3\xa4"));  // an umlaut in both cases
}

TEST(FieldSyntaxTest, OnlySpacesAndTabsAreTrimmed) {
  EXPECT_EQ(TrimSpace(" \t a b\t "), "a b");
  EXPECT_EQ(TrimSpace("\va\r"), "\va\r");
  EXPECT_EQ(TrimSpace("  "), "");
  EXPECT_EQ(TrimSpace(""), "");
}

TEST(FieldSyntaxTest, EmptyElementsOfAListAreLeftOut) {
  EXPECT_THAT(SplitList("gzip,zstd"), ElementsAre("gzip", "zstd"));
  EXPECT_THAT(SplitList(" , gzip ;q=1\t,,\tzstd , "), ElementsAre("gzip ;q=1", "zstd"));
  EXPECT_THAT(SplitList(""), IsEmpty());
  EXPECT_THAT(SplitList(" , ,"), IsEmpty());
}

TEST(FieldSyntaxTest, FieldsOfOneNameAreOneList) {
  const std::vector<Field> fields = {{"Accept", "a"}, {"If-None-Match", "\"1\""}, {"ACCEPT", "b"}};
  EXPECT_EQ(JoinedValue(fields, "accept"), "a, b");
  EXPECT_EQ(JoinedValue(fields, "if-none-match"), "\"1\"");
  EXPECT_EQ(JoinedValue(fields, "range"), std::nullopt);
}

TEST(FieldSyntaxTest, AFieldWithoutAValueIsThere) {
  EXPECT_EQ(JoinedValue(std::vector<Field>{{"Accept", ""}}, "accept"), "");
  EXPECT_EQ(JoinedValue(std::vector<Field>{{"Accept", ""}, {"Accept", "b"}}, "accept"), ", b");
}

}  // namespace
}  // namespace galley::http
