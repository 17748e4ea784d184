#include "director/devices/static_tree_file.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/sealed_text.h"

namespace galley::devices {
namespace {

StaticTree OddTree() {
  const NodeKey node = NodeKeyOf("/Game/a");
  return {.root = Digest::Of("root"),
          .hidden = {{"Game/a b.txt", StaticFile{Digest::Of("a"), true}},
                     {"Game/a.d/x", StaticLink{.end = {.node = node, .names = 2}}},
                     {"Game/A.txt", StaticFile{Digest::Of("b"), false}},
                     {"Game/b.d", StaticLink{.end = {.node = node}, .is_more = true}}},
          .outputs_named_more = {"Game/c.d", "Game/e f.d"}};
}

TEST(StaticTreeFileTest, ATreeIsReadBack) {
  for (const StaticTree& tree : {StaticTree(), OddTree()}) {
    const auto decoded = DecodeStaticTree(EncodeStaticTree(tree));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, tree);
  }
}

TEST(StaticTreeFileTest, TheFileIsTextThatAPersonCanRead) {
  const std::string text = EncodeStaticTree(OddTree());
  EXPECT_TRUE(text.starts_with("galley-static 2\nroot " + Digest::Of("root").ToString() +
                               "\nnamed_more Game/c.d\nnamed_more Game/e f.d\nfile " +
                               Digest::Of("a").ToString() + " x Game/a b.txt\nlink " +
                               NodeKeyOf("/Game/a").hex() + " 2 Game/a.d/x\n"))
      << text;
}

TEST(StaticTreeFileTest, DamageIsSaid) {
  std::string text = EncodeStaticTree(OddTree());
  text[40] = text[40] == 'a' ? 'b' : 'a';
  EXPECT_TRUE(absl::IsDataLoss(DecodeStaticTree(text).status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeStaticTree("").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      DecodeStaticTree(Seal("galley-static", 1, {{"root", Digest().ToString()}})).status()));
  const std::string hex = NodeKeyOf("/a").hex();
  for (const SealedLine& line :
       {SealedLine{"file", "x - a"}, SealedLine{"file", Digest().ToString() + " y a"},
        SealedLine{"file", Digest().ToString() + " x ../a"}, SealedLine{"link", hex + " 0 a"},
        SealedLine{"link", hex + " 2 a"}, SealedLine{"link", hex + " 1 "},
        SealedLine{"more", hex.substr(1) + " 1 a"}, SealedLine{"more", ""}}) {
    const std::string sealed = Seal("galley-static", 2, {{"root", Digest().ToString()}, line});
    EXPECT_TRUE(absl::IsDataLoss(DecodeStaticTree(sealed).status())) << line.value;
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeStaticTree(Seal("galley-static", 2, {})).status()));
}

}  // namespace
}  // namespace galley::devices
