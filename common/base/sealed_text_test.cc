#include "common/base/sealed_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

TEST(SealedTextTest, WhatWasSealedIsReadBack) {
  const std::vector<SealedLine> lines = {
      {"project", "83859e2a"}, {"folder", "/a b\n\\x41/\x7f"}, {"empty", ""}, {"folder", "again"}};
  const std::string text = Seal("galley-thing", 1, lines);
  EXPECT_THAT(text,
              testing::StartsWith("galley-thing 1\nproject 83859e2a\nfolder /a b\\x0a\\x5cx41"));
  const auto read = Unseal("galley-thing", 1, text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, lines);
  EXPECT_EQ(ValueOf(*read, "folder"), "/a b\n\\x41/\x7f");
  EXPECT_EQ(ValueOf(*read, "nothing"), "");
}

TEST(SealedTextTest, WhatWasChangedCutOrIsOfAnotherKindIsRefused) {
  const std::string text = Seal("galley-thing", 1, {{"project", "83859e2a"}});
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(Unseal("galley-thing", 1, changed).ok()) << at;
    EXPECT_FALSE(Unseal("galley-thing", 1, text.substr(0, at)).ok()) << at;
  }
  EXPECT_TRUE(absl::IsDataLoss(Unseal("galley-other", 1, text).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Unseal("galley-thing", 2, text).status()));
}

}  // namespace
}  // namespace galley
