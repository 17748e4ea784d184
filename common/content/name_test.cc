#include "common/content/name.h"

#include <gtest/gtest.h>

namespace galley::content {
namespace {

TEST(NameTest, PlainVirtualPathsAreValid) {
  for (const char* path :
       {"/Game", "/Game/a.png", "/Game/ä/日本.png", "/Game/a b/..c", "/a/...", "/Game/x.y.z"}) {
    EXPECT_TRUE(ValidateVirtualPath(path).ok()) << path;
  }
}

TEST(NameTest, EachBrokenRuleIsNamed) {
  const auto message = [](std::string_view path) {
    return std::string(ValidateVirtualPath(path).message());
  };
  EXPECT_NE(message("Game/a").find("begin with `/`"), std::string::npos);
  EXPECT_NE(message("").find("begin with `/`"), std::string::npos);
  EXPECT_NE(message("/").find("root"), std::string::npos);
  EXPECT_NE(message("/Game/").find("ends with `/`"), std::string::npos);
  EXPECT_NE(message("/Game//a").find("empty segment"), std::string::npos);
  EXPECT_NE(message("/Game/./a").find("`.`"), std::string::npos);
  EXPECT_NE(message("/Game/../a").find("`..`"), std::string::npos);
  EXPECT_NE(message("/Game\\a").find("backslash"), std::string::npos);
  EXPECT_NE(message("/Game/a\nb").find("control"), std::string::npos);
  EXPECT_NE(message(std::string_view("/Game/a\0b", 9)).find("control"), std::string::npos);
  EXPECT_NE(message("/Game/a\xff").find("UTF-8"), std::string::npos);
  EXPECT_NE(message("/Game/" + std::string(256, 'a')).find("255"), std::string::npos);
  std::string deep;
  while (deep.size() <= 4096) deep += "/abcdefg";
  EXPECT_NE(message(deep).find("4096"), std::string::npos);
}

TEST(NameTest, FolderAndExtension) {
  EXPECT_EQ(FolderOf("/Game/a/b.png"), "/Game/a");
  EXPECT_EQ(FolderOf("/Game"), "/");
  EXPECT_EQ(FolderOf("a"), "");
  EXPECT_EQ(ExtensionOf("/Game/a/b.PNG"), "png");
  EXPECT_EQ(ExtensionOf("a.tar.gz"), "gz");
  EXPECT_EQ(ExtensionOf("/Game.d/plain"), "");
  EXPECT_EQ(ExtensionOf("/Game/.hidden"), "");
}

TEST(NameTest, UnderMeansSegmentsNotCharacters) {
  EXPECT_TRUE(IsUnder("/Game/a", "/Game"));
  EXPECT_TRUE(IsUnder("/Game", "/Game"));
  EXPECT_TRUE(IsUnder("/Game", "/"));
  EXPECT_FALSE(IsUnder("/Games/a", "/Game"));
  EXPECT_FALSE(IsUnder("/Gam", "/Game"));
}

TEST(NameTest, AskedPathsGetOneForm) {
  EXPECT_EQ(*NormalizeAsked("a\\b\\..\\c"), "a/c");
  EXPECT_EQ(*NormalizeAsked("./a//b/"), "a/b");
  EXPECT_EQ(*NormalizeAsked("../../x/../y"), "../../y");
  EXPECT_EQ(*NormalizeAsked("/Game/./a/../b"), "/Game/b");
  EXPECT_EQ(*NormalizeAsked("a/../.."), "..");
  EXPECT_EQ(*NormalizeAsked("a/.."), ".");
  EXPECT_EQ(*NormalizeAsked("/Game/.."), "/");
}

TEST(NameTest, NormalizingTwiceChangesNothing) {
  for (const char* path : {"a", ".", "..", "../a", "/", "/a/b", "a/./b/../c//"}) {
    const std::string once = *NormalizeAsked(path);
    EXPECT_EQ(*NormalizeAsked(once), once);
  }
}

TEST(NameTest, AskedPathsThatAreNoneAreRefused) {
  EXPECT_FALSE(NormalizeAsked("").ok());
  EXPECT_FALSE(NormalizeAsked("/..").ok());
  EXPECT_FALSE(NormalizeAsked("/a/../../b").ok());
  EXPECT_FALSE(NormalizeAsked("a\tb").ok());
  EXPECT_FALSE(NormalizeAsked("a\xc3").ok());
  EXPECT_FALSE(NormalizeAsked(std::string(300, 'x')).ok());
}

TEST(NameTest, RelativePathsAreJoinedToThePackagesFolder) {
  EXPECT_EQ(*ResolveAsked("/Game/a/b.vert", "inc/x.glsl"), "/Game/a/inc/x.glsl");
  EXPECT_EQ(*ResolveAsked("/Game/a/b.vert", "..\\x.glsl"), "/Game/x.glsl");
  EXPECT_EQ(*ResolveAsked("/Game/a/b.vert", "/Engine/x"), "/Engine/x");
  EXPECT_EQ(*ResolveAsked("/Game/a/b.vert", "."), "/Game/a");
  EXPECT_EQ(*ResolveAsked("/a", "b"), "/b");
}

TEST(NameTest, AReferenceThatLeavesTheMountsNamesItsPackage) {
  const absl::Status status = ResolveAsked("/Game/b.vert", "../../x").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(std::string(status.message()).find("/Game/b.vert"), std::string::npos);
}

TEST(NameTest, FoldingForgetsCaseAndUnicodeForm) {
  EXPECT_EQ(FoldName("/Game/Barrel.PNG"), FoldName("/game/barrel.png"));
  EXPECT_EQ(FoldName("/Game/\xc3\x84.png"), FoldName("/game/a\xcc\x88.PNG"));  // Ä, a + diaeresis
  EXPECT_EQ(FoldName("stra\xc3\x9f"
                     "e"),
            FoldName("STRASSE"));  // full folding
  EXPECT_NE(FoldName("/Game/a"), FoldName("/Game/b"));
}

TEST(NameTest, NamesThatAreNotUtf8FoldToThemselves) { EXPECT_EQ(FoldName("A\xff"), "A\xff"); }

TEST(NameTest, EscapedNamesNeverLookAlike) {
  EXPECT_EQ(EscapeName("a\xff"
                       "b"),
            "a\\xffb");
  EXPECT_EQ(EscapeName("a\nb"), "a\\x0ab");
  EXPECT_EQ(EscapeName("a\\xffb"), "a\\x5cxffb");
  EXPECT_EQ(EscapeName("ä"), "ä");
}

}  // namespace
}  // namespace galley::content
