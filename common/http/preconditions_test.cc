#include "common/http/preconditions.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::http {
namespace {

using FieldValue = std::optional<std::string_view>;

constexpr FieldValue kAbsent = std::nullopt;
const EntityTag kStrong{.is_weak = false, .opaque = "now"};
const EntityTag kWeak{.is_weak = true, .opaque = "now"};

// "send", "send, ranges apply", "304" or "412".
std::string Answer(const Conditions& conditions, const std::optional<EntityTag>& tag = kStrong,
                   bool is_head = false) {
  const Evaluation evaluation = Evaluate(conditions, is_head, tag);
  const std::string ranges = evaluation.ranges_apply ? ", ranges apply" : "";
  switch (evaluation.verdict) {
    case Verdict::kSend:
      return "send" + ranges;
    case Verdict::kNotModified:
      return "304" + ranges;
    case Verdict::kPreconditionFailed:
      return "412" + ranges;
  }
  return "";
}

TEST(PreconditionsTest, WithoutConditionsTheBytesAreSentAndRangesApply) {
  EXPECT_EQ(Answer({}), "send, ranges apply");
  EXPECT_EQ(Answer({}, std::nullopt), "send, ranges apply");
}

TEST(PreconditionsTest, ATagThatTheClientHasIsNotSentAgain) {
  for (const char* value : {"\"now\"", "W/\"now\"", "\"old\", \"now\"", "*", " , W/\"now\" ,"}) {
    EXPECT_EQ(Answer({.if_none_match = value}), "304") << value;
    EXPECT_EQ(Answer({.if_none_match = value}, kWeak), "304") << value;
  }
}

TEST(PreconditionsTest, AnotherTagIsAnsweredWithTheBytes) {
  for (const char* value : {"\"old\"", "\"old\", W/\"older\"", "", "\"NOW\"", "\"now-zstd\""})
    EXPECT_EQ(Answer({.if_none_match = value}), "send, ranges apply") << value;
}

TEST(PreconditionsTest, AMalformedIfNoneMatchIsAnsweredWithTheBytes) {
  for (const char* value : {"now", "\"now\" \"now\"", "\"now\", x", "*, \"now\"", "\"now"})
    EXPECT_EQ(Answer({.if_none_match = value}), "send, ranges apply") << value;
}

TEST(PreconditionsTest, IfMatchHoldsForAStrongTagOnly) {
  EXPECT_EQ(Answer({.if_match = "\"now\""}), "send, ranges apply");
  EXPECT_EQ(Answer({.if_match = "\"old\", \"now\""}), "send, ranges apply");
  EXPECT_EQ(Answer({.if_match = "W/\"now\""}), "412");
  EXPECT_EQ(Answer({.if_match = "\"old\""}), "412");
  EXPECT_EQ(Answer({.if_match = "\"now\""}, kWeak), "412");
  EXPECT_EQ(Answer({.if_match = "W/\"now\""}, kWeak), "412");
}

TEST(PreconditionsTest, AMalformedIfMatchFails) {
  for (const char* value : {"", "now", "\"now\", x", "\"now"})
    EXPECT_EQ(Answer({.if_match = value}), "412") << value;
}

TEST(PreconditionsTest, AStarMatchesBytesWithoutATag) {
  EXPECT_EQ(Answer({.if_match = "*"}, std::nullopt), "send, ranges apply");
  EXPECT_EQ(Answer({.if_none_match = "*"}, std::nullopt), "304");
  EXPECT_EQ(Answer({.if_match = "\"now\""}, std::nullopt), "412");
  EXPECT_EQ(Answer({.if_none_match = "\"now\""}, std::nullopt), "send, ranges apply");
  EXPECT_EQ(Answer({.if_range = "\"now\""}, std::nullopt), "send");
}

TEST(PreconditionsTest, RangesApplyWhereIfRangeMatchesStrongly) {
  EXPECT_EQ(Answer({.if_range = "\"now\""}), "send, ranges apply");
  EXPECT_EQ(Answer({.if_range = " \"now\"\t"}), "send, ranges apply");
  EXPECT_EQ(Answer({.if_range = "\"old\""}), "send");
  EXPECT_EQ(Answer({.if_range = "W/\"now\""}), "send");
  EXPECT_EQ(Answer({.if_range = "\"now\""}, kWeak), "send");
  EXPECT_EQ(Answer({.if_range = "W/\"now\""}, kWeak), "send");
}

TEST(PreconditionsTest, AnIfRangeThatIsNotOneTagMatchesNothing) {
  for (const char* value :
       {"Sat, 29 Oct 1994 19:43:31 GMT", "*", "", "\"now\", \"now\"", "now", "\"now"})
    EXPECT_EQ(Answer({.if_range = value}), "send") << value;
}

TEST(PreconditionsTest, AHeadIgnoresRanges) {
  EXPECT_EQ(Answer({}, kStrong, true), "send");
  EXPECT_EQ(Answer({.if_range = "\"now\""}, kStrong, true), "send");
  EXPECT_EQ(Answer({.if_none_match = "\"now\""}, kStrong, true), "304");
  EXPECT_EQ(Answer({.if_match = "\"old\""}, kStrong, true), "412");
}

// Every combination, against the order of RFC 9110, 13.2.2.
TEST(PreconditionsTest, TheFirstConditionThatFailsDecides) {
  for (const FieldValue& if_match : {kAbsent, FieldValue("\"now\""), FieldValue("\"old\"")}) {
    for (const FieldValue& if_none_match :
         {kAbsent, FieldValue("\"now\""), FieldValue("\"old\"")}) {
      for (const FieldValue& if_range : {kAbsent, FieldValue("\"now\""), FieldValue("\"old\"")}) {
        std::string expected = if_range == "\"old\"" ? "send" : "send, ranges apply";
        if (if_none_match == "\"now\"") expected = "304";
        if (if_match == "\"old\"") expected = "412";
        EXPECT_EQ(Answer({if_match, if_none_match, if_range}), expected)
            << if_match.value_or("-") << if_none_match.value_or("-") << if_range.value_or("-");
      }
    }
  }
}

}  // namespace
}  // namespace galley::http
