// A tree that grows with each file that is cooked: what that costs a device, and what it is told of
// the paths that differ from an older root.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/vfs/testing/client_on.h"
#include "common/vfs/testing/memory_disk.h"
#include "common/vfs/told_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class GrownTreeTest : public testing::Test {
 protected:
  GrownTreeTest() {
    director_.SetFile("a", "cooked", /*is_cooked=*/true);
    for (const char* name : {"b", "c", "d"})
      director_.SetFile(name, std::string("bytes of ") + name);
    Begin();
    EXPECT_EQ(Read("Game/a"), "cooked");  // the tree is there
    director_.TakeRequests();
  }
  void Begin(ClientOn::Options options = {}) {
    client_.reset();
    client_ = std::make_unique<ClientOn>(director_.Net(), disk_, now_ms_, std::move(options));
    ASSERT_FALSE((*client_)->Begin());
  }
  std::string Read(const std::string& path) { return client_->Read(path, code_); }
  BlobId Newest() { return (*client_)->status().session.newest(); }
  // "<kind> <path>" of each, at most `max`.
  std::vector<std::string> Compare(const BlobId& older, size_t max = SIZE_MAX) {
    std::vector<std::string> told;
    const Result<int> ended = (*client_)->Compare(older, [&](const Change& change) {
      told.push_back(std::to_string(change.kind) + " " + change.path);
      return told.size() == max ? 7 : 0;
    });
    code_ = ended.ok() ? *ended : ended.fault().code;
    return told;
  }
  std::string Digest(const std::string& bytes) { return "\"" + BlobId::Of(bytes).ToText() + "\""; }

  FakeDirector director_;
  MemoryDisk disk_;
  std::atomic<uint64_t> now_ms_ = 1'000'000'000;
  std::unique_ptr<ClientOn> client_;
  int code_ = 0;
};

TEST_F(GrownTreeTest, AFileThatIsCookedCostsOneRequest) {
  const BlobId seen = Newest();
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_EQ(Read(std::string("Game/") + name), std::string("bytes of ") + name);
    EXPECT_EQ(Read(std::string("Game/") + name), std::string("bytes of ") + name);
    EXPECT_THAT(director_.TakeRequests(), ElementsAre(StartsWith("GET /v1/sessions/")));
  }
  EXPECT_NE(Newest(), seen);
  EXPECT_EQ(Newest(), director_.root());
  const Result<ShownPath> shown = (*client_)->Look("Game/b", /*is_from_cache=*/false);
  ASSERT_TRUE(shown.ok());
  ASSERT_TRUE(std::holds_alternative<FileAt>(*shown));
  EXPECT_EQ(std::get<FileAt>(*shown).blob, BlobId::Of("bytes of b"));
  EXPECT_THAT(director_.TakeRequests(), IsEmpty());
}

TEST_F(GrownTreeTest, OnWishTheViewMovesWithTheTree) {
  Begin({.follows_growth = true});
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  EXPECT_EQ((*client_)->status().session.view.root, director_.root());
}

TEST_F(GrownTreeTest, WhereTooMuchWasToldTheTreeIsRead) {
  Begin({.told_paths_max = 2});
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"b", "c", "d"})
      EXPECT_EQ(Read(std::string("Game/") + name), std::string("bytes of ") + name);
  }
  EXPECT_EQ((*client_)->status().session.view.root, director_.root());
}

TEST_F(GrownTreeTest, ASessionThatHasEndedGoesOnWithWhatWasCooked) {
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  director_.EndSessions();
  EXPECT_EQ(Read("Game/c"), "bytes of c");
  director_.SetAway(true);
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  EXPECT_EQ(Read("Game/c"), "bytes of c");
  Begin();
  EXPECT_EQ(Read("Game/b"), "bytes of b") << "in the next process";
  EXPECT_EQ(Read("Game/c"), "bytes of c");
}

TEST_F(GrownTreeTest, TheSameWorldIsNoNewerOneThoughItHasGrown) {
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  const Result<bool> is_newer = (*client_)->Advance();
  ASSERT_TRUE(is_newer.ok());
  EXPECT_FALSE(*is_newer);
  EXPECT_EQ(Newest(), director_.root());
}

TEST_F(GrownTreeTest, WhatDiffersIsToldByTheDirector) {
  const BlobId older = Newest();
  director_.SetFile("a", "edited", /*is_cooked=*/true);
  director_.SetFile("b", "edited b");
  ASSERT_TRUE((*client_)->Advance().ok());
  director_.SetDifference("{\"modified\": [{\"path\": \"Game/a\", \"after\": " + Digest("edited") +
                          "}], \"removed\": [\"Game/c\"], \"stale\": [\"Game/b\"]}");
  director_.TakeRequests();
  EXPECT_THAT(Compare(older), ElementsAre("2 Game/a", "3 Game/c", "4 Game/b"));
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(director_.TakeRequests(),
              ElementsAre("GET /v1/root/" + Newest().ToText() + "?since=" + older.ToText()));
  EXPECT_EQ(Read("Game/a"), "edited");
  EXPECT_EQ(Read("Game/b"), "edited b");
  const std::vector<std::string> asked = director_.TakeRequests();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0], "GET /v1/blob/" + BlobId::Of("edited").ToText());
  EXPECT_THAT(asked[1], StartsWith("GET /v1/sessions/"));
  Compare(older, 2);
  EXPECT_EQ(code_, 7) << "the caller's";
}

// A game keeps the root of the status, and has opened files since.
TEST_F(GrownTreeTest, TheRootThatIsSeenDiffersByNothing) {
  const BlobId before = Newest();
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  director_.SetDifference(R"({"stale": ["Game/b", "Game/c"]})");
  EXPECT_THAT(Compare(Newest()), IsEmpty());
  EXPECT_THAT(Compare(before), IsEmpty());
  director_.SetFile("c", "edited c");
  const BlobId older = Newest();
  ASSERT_TRUE((*client_)->Advance().ok());
  EXPECT_EQ(Read("Game/c"), "edited c");
  director_.TakeRequests();
  Compare(older);
  EXPECT_THAT(director_.TakeRequests(),
              ElementsAre("GET /v1/root/" + Newest().ToText() + "?since=" + older.ToText()));
  EXPECT_EQ(Read("Game/c"), "edited c");
  EXPECT_THAT(director_.TakeRequests(), IsEmpty()) << "it is cooked, whatever was told since";
}

TEST_F(GrownTreeTest, OffLineAFileThatWasOpenedHasItsSize) {
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  director_.SetAway(true);
  for (const bool is_next_process : {false, true}) {
    if (is_next_process) Begin();
    EXPECT_EQ(Read("Game/b"), "bytes of b");
    const Result<ShownPath> shown = (*client_)->Look("Game/b", /*is_from_cache=*/false);
    ASSERT_TRUE(shown.ok());
    ASSERT_TRUE(std::holds_alternative<FileAt>(*shown)) << is_next_process;
    EXPECT_EQ(std::get<FileAt>(*shown).blob.size, 10u);
  }
}

// The tunnel begins behind the answer that opens the session.
TEST_F(GrownTreeTest, ADirectorThatIsThereForAMomentTakesNothingAway) {
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  Begin();
  ASSERT_TRUE((*client_)->Advance().ok());
  director_.SetAway(true);
  const Result<ShownPath> shown = (*client_)->Look("Game/b", /*is_from_cache=*/false);
  ASSERT_TRUE(shown.ok()) << shown.fault().text;
  EXPECT_TRUE(std::holds_alternative<FileAt>(*shown));
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  Begin();
  EXPECT_EQ(Read("Game/b"), "bytes of b");
}

// The root that is seen last has folders that were never read: it has grown by opens, and then by a
// folder that was asked for.
TEST_F(GrownTreeTest, OffLineAFolderThatWasListedIsListed) {
  director_.SetFile("e.d", "a folder, going by its name");
  ASSERT_TRUE((*client_)->Advance().ok());
  const Result<std::vector<ShownEntry>> before = (*client_)->List("Game");
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE((*client_)->List("").ok());
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  ASSERT_FALSE((*client_)->Cook("Game/e.d", nullptr));
  director_.SetAway(true);
  for (const bool is_next_process : {false, true}) {
    if (is_next_process) Begin();
    const Result<std::vector<ShownEntry>> after = (*client_)->List("Game");
    ASSERT_TRUE(after.ok()) << after.fault().text;
    EXPECT_EQ(after->size(), before->size());
    EXPECT_EQ(Read("Game/b"), "bytes of b");
    const Result<ShownPath> shown = (*client_)->Look("Game/b", /*is_from_cache=*/false);
    ASSERT_TRUE(shown.ok()) << shown.fault().text;
    EXPECT_TRUE(std::holds_alternative<FileAt>(*shown));
  }
}

TEST_F(GrownTreeTest, ADirectorThatDoesNotTellLeavesItToTheTrees) {
  const BlobId older = Newest();
  director_.SetFile("a", "edited", /*is_cooked=*/true);
  ASSERT_TRUE((*client_)->Advance().ok());
  for (const char* answer : {"", "{\"cut\": true}", "no", "{\"stale\": [\"../a\"]}",
                             "{\"added\": [{\"path\": \"/a\"}]}"}) {
    director_.SetDifference(answer);
    EXPECT_THAT(Compare(older), ElementsAre("2 Game/a")) << answer;
  }
}

TEST_F(GrownTreeTest, AFileThatTheDirectorHasLostIsAskedForByItsPath) {
  const BlobId older = Newest();
  director_.SetFile("b", "edited b");
  ASSERT_TRUE((*client_)->Advance().ok());
  director_.SetDifference("{\"modified\": [{\"path\": \"Game/b\", \"after\": " + Digest("lost") +
                          "}]}");
  Compare(older);
  EXPECT_EQ(Read("Game/b"), "edited b");
}

TEST(ToldFilesTest, OfOneSessionAndNoMoreThanThereIsRoomFor) {
  ToldFiles told(2);
  const ToldFiles::Told cooked{.blob = BlobId::Of("a")}, uncooked{};
  EXPECT_FALSE(told.Find("s1", "a"));
  EXPECT_TRUE(told.Note("s1", "a", uncooked));
  EXPECT_TRUE(told.Note("s1", "b", cooked));
  EXPECT_FALSE(told.Note("s1", "c", cooked));
  EXPECT_TRUE(told.Note("s1", "a", cooked)) << "it is known already";
  EXPECT_EQ(told.Find("s1", "a")->blob, cooked.blob);
  EXPECT_FALSE(told.Find("s1", "c"));
  EXPECT_FALSE(told.Find("s2", "a"));
  EXPECT_FALSE(told.Find("", "a"));
  EXPECT_TRUE(told.Note("s2", "c", uncooked));
  EXPECT_FALSE(told.Find("s1", "a"));
  EXPECT_FALSE(told.Find("s2", "c")->blob);
}

}  // namespace
}  // namespace galley::vfs
