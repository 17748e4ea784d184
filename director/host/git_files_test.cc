#include "director/host/git_files.h"

#include "director/host/git_repository.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kObject = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

std::string Entry(std::string_view tag_and_mode, std::string_view path, int stage = 0) {
  return std::string(tag_and_mode) + " " + std::string(kObject) + " " + std::to_string(stage) +
         "\t" + std::string(path) + std::string(1, '\0');
}

TEST(GitFilesTest, PlainFilesAreWatchedByGitAndNothingElse) {
  const auto tracked =
      ReadTracked(Entry("H 100644", "a") + Entry("H 100755", "run") + Entry("H 120000", "link") +
                  Entry("h 100644", "assume-unchanged") + Entry("S 100644", "skip\nworktree") +
                  Entry("M 100644", "unmerged", 2) + Entry("H 160000", "sub/module"));
  ASSERT_TRUE(tracked.ok()) << tracked.status();
  EXPECT_THAT(tracked->repositories, ElementsAre("sub/module"));
  EXPECT_THAT(tracked->unwatched,
              ElementsAre("link", "assume-unchanged", "skip\nworktree", "unmerged"));
  EXPECT_THAT(ReadTracked("")->unwatched, IsEmpty());
  for (const char* const text : {"a", "H 100644", "100644 x 0\ta", "H 100644 x 0"})
    EXPECT_TRUE(absl::IsInvalidArgument(ReadTracked(text).status())) << text;
}

TEST(GitFilesTest, WhatBecameAnotherFileIsDirty) {
  const GitState clean{
      .repositories = {{"/game", "c0ffee", "rules"}}, .dirty = {"/Game/b"}, .why_unknown = ""};
  const GitState dirty = WithDirty(clean, {"/Game/c", "/Game/a", "/Game/b"});
  EXPECT_THAT(dirty.dirty, ElementsAre("/Game/a", "/Game/b", "/Game/c"));
  EXPECT_EQ(dirty.repositories, clean.repositories);
  EXPECT_EQ(WithDirty(clean, {}), clean);
  // If nothing is known, a dirty file adds no knowledge.
  EXPECT_EQ(WithDirty({}, {"/Game/a"}), GitState());
  std::vector<std::string> many;
  for (size_t i = 0; i < kDirtyMax; ++i) many.push_back("/Game/" + std::to_string(i));
  const GitState unknown = WithDirty(clean, many);
  EXPECT_THAT(unknown.repositories, IsEmpty());
  EXPECT_THAT(unknown.why_unknown, HasSubstr("4097 files"));
}

}  // namespace
}  // namespace galley::director
