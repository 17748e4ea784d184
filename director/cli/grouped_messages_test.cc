#include "director/cli/grouped_messages.h"

#include "director/core/conflict_text.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kBoth = {"windows", "android"};

Message Failure(const std::string& package, const std::string& text,
                const std::string& platform = "", const std::string& chosen_by = "") {
  return {package, platform, "load", text, chosen_by};
}

TEST(KindOfTest, WhatIsOfOnePackageIsTakenOut) {
  const auto is_one = [](const char* a, const char* b) {
    return KindOf("/Game/a.png", a) == KindOf("/Game/sub/b2.png", b);
  };
  EXPECT_TRUE(is_one("/Game/a.png is bad", "/Game/sub/b2.png is bad"));
  EXPECT_TRUE(is_one("at Game/a.png.ktx2: same", "at Game/sub/b2.png.ktx2: same"));
  EXPECT_TRUE(is_one("7 of 130 rows", "12 of 9 rows"));
  EXPECT_TRUE(is_one("refers to 'x.png' (hard)", "refers to 'y z.png' (hard)"));
  EXPECT_TRUE(is_one("begins with `a b`", "begins with `c`"));
  EXPECT_TRUE(is_one("reads /Game/x, which failed", "reads /Game/y/z, which failed"));
  EXPECT_FALSE(is_one("too wide", "too high"));
  EXPECT_FALSE(is_one("the cooker's word", "the cooker's term")) << "an apostrophe quotes nothing";
  EXPECT_NE(KindOf("", "a b"), KindOf("", "a c"));
}

TEST(GroupedMessagesTest, PlatformsOfOneErrorAreTogether) {
  GroupedMessages grouped({.alike = "failed alike"});
  grouped.Add(Failure("/Game/a.png", "truncated", "windows"));
  grouped.Add(Failure("/Game/a.png", "truncated", "android"));
  grouped.Add(Failure("/Game/b.frag", "no essl", "android", "shader by galley.toml:9"));
  grouped.Add(Failure("", "disk full at 5"));
  grouped.Add(Failure("", "disk full at 6"));
  grouped.Add(Failure("", "staging", "windows"));
  grouped.Add(Failure("", "staging more", "windows"));
  grouped.Add(Failure("", "staging more", "android"));
  EXPECT_THAT(grouped.TakeNew(kBoth),
              ElementsAre("/Game/a.png: truncated",
                          "/Game/b.frag (android; shader by galley.toml:9): no essl",
                          "disk full at 5", "disk full at 6", "windows: staging",
                          "windows: staging more", "android: staging more"));
  EXPECT_THAT(grouped.TakeNew(kBoth), IsEmpty());
  EXPECT_THAT(grouped.TakeRest(kBoth), IsEmpty());
}

TEST(GroupedMessagesTest, EqualErrorsOfManyPackagesAreOneWithANumber) {
  GroupedMessages grouped({.alike = "failed alike"});
  for (int i = 100; i < 408; ++i)
    grouped.Add(Failure(fmt::format("/Game/{}.png", i), "the file is no png", "",
                        "texture by galley.toml:52"));
  const std::vector<std::string> told = grouped.TakeNew(kBoth);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], testing::StartsWith("308 packages failed alike (texture by galley.toml:52): "
                                           "the file is no png\n  /Game/100.png\n"));
  EXPECT_THAT(told[0],
              testing::EndsWith("\n  /Game/119.png\n  and 288 more (--verbose, or the summary)"));
}

TEST(GroupedMessagesTest, TextsThatDifferAreToldEach) {
  GroupedMessages grouped({.alike = "failed alike"});
  grouped.Add(Failure("/Game/b", "refers to 'y'", "", "data by galley.toml:5"));
  grouped.Add(Failure("/Game/a", "refers to 'x'", "windows"));
  grouped.Add(Failure("/Game/c", "other words\nin 2 lines"));
  grouped.Add(Failure("/Game/d", "other words\nin 3 lines"));
  EXPECT_THAT(grouped.TakeNew(kBoth),
              ElementsAre("2 packages failed alike:\n  /Game/a (windows): refers to 'x'\n"
                          "  /Game/b (data by galley.toml:5): refers to 'y'",
                          "2 packages failed alike:\n  /Game/c: other words\n    in 2 lines\n"
                          "  /Game/d: other words\n    in 3 lines"));
}

TEST(GroupedMessagesTest, WhatComesOfAKindThatWasToldWaitsForTheEnd) {
  GroupedMessages grouped({.alike = "failed alike"});
  grouped.Add(Failure("/Game/a.png", "truncated\nat 5", "windows"));
  EXPECT_EQ(grouped.TakeNew(kBoth).size(), 1u);
  grouped.Add(Failure("/Game/a.png", "truncated\nat 5", "android"));
  grouped.Add(Failure("/Game/c.png", "another"));
  EXPECT_THAT(grouped.TakeNew(kBoth), ElementsAre("/Game/c.png: another"));
  EXPECT_THAT(grouped.TakeRest(kBoth), ElementsAre("/Game/a.png: as told above"))
      << "what a program printed is not printed once for each platform";
  EXPECT_THAT(grouped.TakeRest(kBoth), IsEmpty());
}

TEST(GroupedMessagesTest, VerboseTellsEachAtOnce) {
  GroupedMessages grouped({.is_verbose = true, .alike = "failed alike"});
  for (int i = 0; i < 30; ++i) grouped.Add(Failure(fmt::format("/Game/{}", i), "bad"));
  EXPECT_EQ(grouped.TakeNew(kBoth).size(), 30u);
  grouped.Add(Failure("/Game/x", "bad"));
  EXPECT_THAT(grouped.TakeNew(kBoth), ElementsAre("/Game/x: bad"));
  EXPECT_THAT(grouped.TakeRest(kBoth), IsEmpty());
}

TEST(GroupedMessagesTest, OfEqualWarningsOneIsTheExample) {
  GroupedMessages grouped({.named_max = 1, .alike = "are warned alike"});
  for (int i = 1; i <= 71; ++i)
    grouped.Add({fmt::format("/Game/{:02}.png", i), "", "", fmt::format("is {} wide", i), ""});
  EXPECT_THAT(grouped.TakeNew(kBoth),
              ElementsAre("/Game/01.png: is 1 wide\n  71 packages are warned alike (--verbose, or "
                          "the summary, names them)"));
}

TEST(GroupedMessagesTest, EqualWarningsOfOnePackageAreCounted) {
  GroupedMessages grouped({.named_max = 1, .alike = "are warned alike"});
  for (int i = 1; i <= 4; ++i)
    grouped.Add({"/Game/a.png", "", "", fmt::format("item {} is odd", i), ""});
  EXPECT_THAT(
      grouped.TakeNew(kBoth),
      ElementsAre("/Game/a.png: item 1 is odd\n  and 3 more such warnings of it (--verbose, "
                  "or the summary, has them)"));
}

TEST(GroupedMessagesTest, ConflictsAreOneParagraphWithTheRulesAndAnExample) {
  GroupedMessages grouped({.alike = "failed alike"});
  for (int i = 100; i < 254; ++i) {
    const std::string source = fmt::format("/Game/{}.png", i), built = source + ".ktx2";
    const std::string path = built.substr(1);
    grouped.Add({source, "windows", "commit", director::ConflictText({path, built, "same path"}),
                 "texture by galley.toml:12"});
    grouped.Add({built, "windows", "commit", director::ConflictText({path, source, "same path"}),
                 "copy by galley.toml:40"});
  }
  const std::vector<std::string> told = grouped.TakeNew(kBoth);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0],
            "308 packages have outputs at the paths of others; no tree has any of the two. For "
            "example\n  /Game/100.png (texture by galley.toml:12) and\n  /Game/100.png.ktx2 (copy "
            "by galley.toml:40)\n  both want Game/100.png.ktx2: same path.\n"
            "  Keep one of each two: leave the other out with [cook] never, or change a rule. "
            "--verbose and the summary name all of them.");
  EXPECT_THAT(director::ReadConflict("its output x is gone"), testing::Eq(std::nullopt));
  // Another platform has the same messages, which are told already.
  for (int i = 100; i < 254; ++i) {
    const std::string source = fmt::format("/Game/{}.png", i), built = source + ".ktx2";
    grouped.Add({source, "android", "commit",
                 director::ConflictText({built.substr(1), built, "same path"}),
                 "texture by galley.toml:12"});
  }
  EXPECT_THAT(grouped.TakeRest(kBoth), IsEmpty());
}

}  // namespace
}  // namespace galley::cli
