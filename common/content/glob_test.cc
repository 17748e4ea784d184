#include "common/content/glob.h"

#include <gtest/gtest.h>

#include <ctime>

namespace galley::content {
namespace {

bool Matches(std::string_view pattern, std::string_view path) {
  const absl::StatusOr<Glob> glob = Glob::Parse(pattern);
  EXPECT_TRUE(glob.ok()) << glob.status();
  return glob.ok() && glob->Matches(path);
}

TEST(GlobTest, StarStaysInItsSegment) {
  EXPECT_TRUE(Matches("/Game/*.png", "/Game/a.png"));
  EXPECT_TRUE(Matches("/Game/*.png", "/Game/.png"));
  EXPECT_FALSE(Matches("/Game/*.png", "/Game/a/b.png"));
  EXPECT_FALSE(Matches("/Game/*.png", "/Game/a.pngx"));
  EXPECT_TRUE(Matches("/*/a*b*c", "/Game/a12b3bc"));
  EXPECT_FALSE(Matches("/Game/*", "/Game"));
}

TEST(GlobTest, TwoStarsCrossSegmentsAndMatchNone) {
  EXPECT_TRUE(Matches("/Game/**/*.png", "/Game/a.png"));
  EXPECT_TRUE(Matches("/Game/**/*.png", "/Game/a/b/c.png"));
  EXPECT_FALSE(Matches("/Game/**/*.png", "/Games/a.png"));
  EXPECT_TRUE(Matches("/**/x/**/y", "/a/x/b/x/c/y"));
  EXPECT_TRUE(Matches("**/*.blend1", "/Game/a.blend1"));
}

TEST(GlobTest, TrailingTwoStarsMeanWhatLiesInTheFolder) {
  EXPECT_TRUE(Matches("/Game/dev/**", "/Game/dev/a"));
  EXPECT_TRUE(Matches("/Game/dev/**", "/Game/dev/a/b"));
  EXPECT_FALSE(Matches("/Game/dev/**", "/Game/dev"));
  EXPECT_FALSE(Matches("/Game/dev/**", "/Game/developer"));
}

TEST(GlobTest, QuestionMarkAndClassesMatchOneCodePoint) {
  EXPECT_TRUE(Matches("/a?c", "/aäc"));
  EXPECT_FALSE(Matches("/a?c", "/ac"));
  EXPECT_FALSE(Matches("/a?c", "/a/c"));
  EXPECT_TRUE(Matches("/[a-c]x", "/bx"));
  EXPECT_FALSE(Matches("/[a-c]x", "/dx"));
  EXPECT_TRUE(Matches("/[!a-c]x", "/dx"));
  EXPECT_FALSE(Matches("/[^a-c]x", "/ax"));
  EXPECT_TRUE(Matches("/[]x]", "/]"));
  EXPECT_TRUE(Matches("/[a-]", "/-"));
  EXPECT_TRUE(Matches("/[ä-ü]", "/ö"));
  EXPECT_TRUE(Matches("/[*]", "/*"));
  EXPECT_FALSE(Matches("/[*]", "/x"));
}

TEST(GlobTest, BracesAreAlternativesAndNest) {
  EXPECT_TRUE(Matches("/Game/*.{png,jpg}", "/Game/a.jpg"));
  EXPECT_FALSE(Matches("/Game/*.{png,jpg}", "/Game/a.tga"));
  EXPECT_TRUE(Matches("/{a,b{c,d}}", "/bd"));
  EXPECT_FALSE(Matches("/{a,b{c,d}}", "/b"));
  EXPECT_TRUE(Matches("/{a/b,c}/x", "/a/b/x"));
  EXPECT_TRUE(Matches("/x{,y}", "/x"));
  EXPECT_TRUE(Matches("/[{,}]", "/,"));
  EXPECT_TRUE(Matches("/a,b", "/a,b"));
}

TEST(GlobTest, WhatIsWrongIsSaid) {
  const auto message = [](std::string_view pattern) {
    return std::string(Glob::Parse(pattern).status().message());
  };
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("/a\\*").find("escapes nothing"), std::string::npos);
  EXPECT_NE(message("/a[bc").find("`[` is not closed (at character 3)"), std::string::npos);
  EXPECT_NE(message("/a[").find("not closed"), std::string::npos);
  EXPECT_NE(message("/{a,b").find("`{` is not closed"), std::string::npos);
  EXPECT_NE(message("/a}").find("without `{`"), std::string::npos);
  EXPECT_NE(message("/a[b/c]").find("inside"), std::string::npos);
  EXPECT_NE(message("/a**").find("stand alone"), std::string::npos);
  EXPECT_NE(message("/a//b").find("empty segment"), std::string::npos);
  EXPECT_NE(message("/a/").find("empty segment"), std::string::npos);
  EXPECT_NE(message("/a/../b").find("`..`"), std::string::npos);
  EXPECT_NE(message("/a\xff").find("UTF-8"), std::string::npos);
  EXPECT_NE(message(std::string(5000, 'a')).find("limit"), std::string::npos);
}

TEST(GlobTest, AlternativesAreBounded) {
  std::string pattern = "/";
  for (int i = 0; i < 10; ++i) pattern += "{a,b}";
  EXPECT_TRUE(Glob::Parse(pattern).ok());
  EXPECT_FALSE(Glob::Parse(pattern + "{a,b}").ok());
  EXPECT_FALSE(Glob::Parse("/" + std::string(1000, '{')).ok());
}

TEST(GlobTest, LiteralFolderBoundsTheMatches) {
  EXPECT_EQ(Glob::Parse("/Game/maps/*.level")->LiteralFolder(), "/Game/maps");
  EXPECT_EQ(Glob::Parse("/Game/maps/a.level")->LiteralFolder(), "/Game/maps");
  EXPECT_EQ(Glob::Parse("/Game/{a,b}/x*")->LiteralFolder(), "/Game");
  EXPECT_EQ(Glob::Parse("/*.png")->LiteralFolder(), "/");
  EXPECT_EQ(Glob::Parse("{/a,/b}/x")->LiteralFolder(), "/");
  EXPECT_EQ(Glob::Parse("**/*.png")->LiteralFolder(), "");
  EXPECT_EQ(Glob::Parse("a/b/*.png")->LiteralFolder(), "a/b");
}

TEST(GlobTest, StarsDoNotMultiplyTheCost) {
  std::string pattern = "/";
  for (int i = 0; i < 100; ++i) pattern += "a*";
  std::string folders = "/**";
  for (int i = 0; i < 50; ++i) folders += "/a/**";
  std::string path;
  for (int i = 0; i < 500; ++i) path += "/a";
  const std::clock_t start = std::clock();  // of this process, whatever else the machine does
  EXPECT_FALSE(Matches(pattern + "b", "/" + std::string(250, 'a')));
  EXPECT_FALSE(Matches(folders + "/b", path));
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace galley::content
