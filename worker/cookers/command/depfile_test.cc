#include "worker/cookers/command/depfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Parse(std::string_view text) {
  const auto parsed = ParseDepfile(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : std::vector<std::string>{};
}

std::string ErrorOf(std::string_view text) {
  const auto parsed = ParseDepfile(text);
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << text;
  return MessageOf(parsed.status());
}

TEST(DepfileTest, PrerequisitesComeInOrderEachOnce) {
  EXPECT_THAT(Parse("o: b a b\n"), ElementsAre("b", "a"));
}

TEST(DepfileTest, LinesGoOnAfterABackslash) {
  EXPECT_THAT(Parse("o: a \\\n  b\\\n c \\\r\n d\r\n"), ElementsAre("a", "b", "c", "d"));
}

TEST(DepfileTest, EscapesAreUndone) {
  EXPECT_THAT(Parse("o: my\\ file a\\#b c$$d e\\\\\\ f g\\h\n"),
              ElementsAre("my file", "a#b", "c$d", "e\\ f", "g\\h"));
}

TEST(DepfileTest, SeveralTargetsAndRulesAreRead) {
  EXPECT_THAT(Parse("o p : a b\nq: c\na:\nb:\n"), ElementsAre("a", "b", "c"));
}

TEST(DepfileTest, ColonInsideANameStays) {
  EXPECT_THAT(Parse("c:/o: c:/a d:b"), ElementsAre("c:/a", "d:b"));
}

TEST(DepfileTest, EmptyTextAndCommentsHoldNothing) {
  EXPECT_THAT(Parse("\n# a: b\n\n"), IsEmpty());
}

TEST(DepfileTest, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorOf("o: a\njunk here\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf(": a\n"), HasSubstr("without a target"));
  EXPECT_THAT(ErrorOf("o: a : b\n"), HasSubstr("second ':'"));
  EXPECT_THAT(ErrorOf(std::string_view("o: a\0b", 6)), HasSubstr("control character"));
}

}  // namespace
}  // namespace galley::worker
