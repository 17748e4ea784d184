#include "director/cli/device/sync_list.h"

#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::device {
namespace {

using testing::HasSubstr;

TEST(SyncListTest, WhatIsWrittenIsRead) {
  SyncList list{.from = {.platform = "pc", .cultures = {"de", "fr"}, .scopes = {"Game/maps"}},
                .root = Digest::Of("root").ToString(),
                .files = {{"Game/a b.txt", {.digest = Digest::Of("a"), .mtime_ns = -5}},
                          {"Game/ü", {.digest = Digest::Of(""), .mtime_ns = 1'700'000'000'123}}}};
  const auto read = SyncList::Parse(list.ToText());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->from, list.from);
  EXPECT_EQ(read->root, list.root);
  EXPECT_EQ(read->files, list.files);
}

TEST(SyncListTest, ALaterLineWinsAndOneWithoutAnEndDoesNotCount) {
  const SyncedFile old{.digest = Digest::Of("old"), .mtime_ns = 1};
  const SyncedFile now{.digest = Digest::Of("now"), .mtime_ns = 2};
  const std::string begin = SyncList{
      .from = {.platform = "pc", .cultures = {}, .scopes = {}},
      .root = {},
      .files = {}}.ToText();
  const std::string lines = FileLine("a", old) + FileLine("b", old) + FileLine("a", now) +
                            GoneLine("b") + FileLine("c", now);
  const auto list = SyncList::Parse((begin + lines).substr(0, begin.size() + lines.size() - 1));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->files, (std::map<std::string, SyncedFile>{{"a", now}}));
}

TEST(SyncListTest, WhatIsNoListIsRefused) {
  const auto refuse = [](const std::string& text, const char* why) {
    EXPECT_THAT(MessageOf(SyncList::Parse(text).status()), HasSubstr(why)) << text;
  };
  refuse("", "no platform");
  refuse("galley-sync 1\n", "no platform");
  refuse("galley-sync 2\nplatform pc\n", "line 1");
  refuse("galley-sync 1\nplatform pc\nfile x 1 a\n", "line 3");
  refuse("galley-sync 1\nplatform pc\nfile " + Digest::Of("").ToString() + " 1 \n", "line 3");
  refuse("galley-sync 1\nplatform pc\nfile " + Digest::Of("").ToString() + " soon a\n", "line 3");
  refuse("galley-sync 1\nplatform pc\nfolder a\n", "line 3");
  refuse("galley-sync 1\nplatform pc\ngone\n", "line 3");
}

}  // namespace
}  // namespace galley::device
