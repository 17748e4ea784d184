#include "director/cli/device/sync_run.h"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/vfs/testing/fake_director.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::device {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using vfs::FakeDirector;

// A director in memory, through the C library, to a folder on the disk.
class SyncRunTest : public testing::Test {
 protected:
  void SetUp() override {
    base_ = MakeTemporaryDirectory(std::filesystem::temp_directory_path().string(), "sync").value();
    director_->SetFile("a", "bytes of a", /*is_cooked=*/true);
    director_->SetFile("b", "bytes of b");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(base_).ok()); }

  // Runs `galley device sync`, as a process of its own would.
  absl::StatusOr<SyncReport> Run(std::vector<std::string> scopes = {}) {
    events_.clear();
    ASSIGN_OR_RETURN(const auto handle, Handle::Create({.url = "http://fake:1",
                                                        .platform = "pc",
                                                        .cache_folder = JoinPath(base_, cache_),
                                                        .net = director_->Net()}));
    ASSIGN_OR_RETURN(
        const auto folder,
        TargetFolder::Open(Copy(), {.platform = "pc", .cultures = {}, .scopes = scopes}));
    director_->TakeRequests();
    return Sync(*handle, *folder,
                {.scopes = scopes,
                 .threads = 3,
                 .tell = [&](const SyncEvent& event) { events_.push_back(event); },
                 .progress = [](const SyncReport&) {}});
  }
  SyncReport RunWhole(std::vector<std::string> scopes = {}) {
    const auto report = Run(std::move(scopes));
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(SyncReport{});
  }
  // Another project at the same address, or the same one after files were deleted.
  void Replace() {
    director_ = std::make_unique<FakeDirector>();
    cache_ += "x";
  }
  std::string Copy() const { return JoinPath(base_, "copy"); }
  std::string Read(const std::string& path) const {
    return ReadFile(JoinPath(Copy(), path)).value_or("absent");
  }
  std::vector<std::string> Failed() const {
    std::vector<std::string> paths;
    for (const SyncEvent& event : events_)
      if (event.kind == SyncEvent::Kind::kFailed) paths.push_back(event.path + ": " + event.text);
    return paths;
  }

  std::string base_, cache_ = "cache";
  std::unique_ptr<FakeDirector> director_ = std::make_unique<FakeDirector>();
  std::vector<SyncEvent> events_;
};

TEST_F(SyncRunTest, TheFolderBecomesACopyAndOnlyWhatDiffersIsWritten) {
  SyncReport report = RunWhole();
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.written, 2u);
  EXPECT_EQ(report.bytes, 20u);
  EXPECT_EQ(report.root, director_->root().ToText());
  EXPECT_EQ(Read("Game/a"), "bytes of a");
  EXPECT_EQ(Read("Game/b"), "bytes of b");
  report = RunWhole();
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.written, 0u);
  director_->SetFile("b", "other bytes");
  report = RunWhole();
  EXPECT_EQ(report.written, 1u);
  EXPECT_EQ(Read("Game/b"), "other bytes");
  ASSERT_TRUE(WriteFileAtomic(JoinPath(Copy(), "Game/a"), "spoiled").ok());
  report = RunWhole();
  EXPECT_EQ(report.written, 1u);
  EXPECT_EQ(Read("Game/a"), "bytes of a");
}

TEST_F(SyncRunTest, WhatDidNotChangeSinceIsNotOpened) {
  RunWhole();
  director_->SetFile("b", "other bytes", /*is_cooked=*/true);
  cache_ += "x";  // an empty one: what is opened has to be fetched
  EXPECT_EQ(RunWhole().written, 1u);
  const std::vector<std::string> requests = director_->TakeRequests();
  const auto fetch = [](const std::string& bytes) {
    return "GET /v1/blob/" + vfs::BlobId::Of(bytes).ToText();
  };
  EXPECT_THAT(requests, Contains(fetch("other bytes")));
  EXPECT_THAT(requests, Not(Contains(fetch("bytes of a"))));
  ASSERT_TRUE(WriteFileAtomic(JoinPath(Copy(), "Game/a"), "spoiled").ok());
  EXPECT_EQ(RunWhole().written, 1u);
  EXPECT_THAT(director_->TakeRequests(), Contains(fetch("bytes of a")))
      << "it is not as it was put";
}

// Neither folders of the tree nor files that are there already.
TEST_F(SyncRunTest, OnlyWhatTheDirectorSaysDiffersIsAskedFor) {
  director_->SetFile("c", "bytes of c");
  const std::string older = RunWhole().root;
  director_->SetFile("a", "edited a", /*is_cooked=*/true);
  director_->SetFile("c", "edited c");
  director_->SetDifference(R"({"modified": [{"path": "Game/a", "after": ")" +
                           vfs::BlobId::Of("edited a").ToText() +
                           R"("}], "removed": ["Game/b"], "stale": ["Game/c"]})");
  const SyncReport report = RunWhole();
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.written, 2u);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(Read("Game/a"), "edited a");
  EXPECT_EQ(Read("Game/b"), "absent");
  EXPECT_EQ(Read("Game/c"), "edited c");
  std::vector<std::string> kinds;  // of the requests
  for (const std::string& request : director_->TakeRequests())
    kinds.push_back(request.substr(0, request.find('/', request.find("/v1/") + 4)));
  std::ranges::sort(kinds);
  EXPECT_THAT(kinds, ElementsAre("DELETE /v1/sessions", "GET /v1/blob", "GET /v1/blob",
                                 "GET /v1/blob", "GET /v1/root", "GET /v1/sessions",
                                 "POST /v1/sessions", "POST /v1/sessions"))
      << "the blobs: a file, and the roots of both worlds";
}

TEST_F(SyncRunTest, APathThatIsGoneIsSaidEachTime) {
  RunWhole({"Game/a", "Game/b"});
  Replace();
  director_->SetFile("a", "bytes of a", /*is_cooked=*/true);
  EXPECT_EQ(RunWhole({"Game/a", "Game/b"}).removed, 1u);
  director_->SetFile("a", "edited", /*is_cooked=*/true);
  EXPECT_TRUE(absl::IsNotFound(Run({"Game/a", "Game/b"}).status()));
}

TEST_F(SyncRunTest, FilesThatTheTreeHasNoMoreGoAndThoseOfOthersStay) {
  director_->SetFile("c", "bytes of c");
  RunWhole();
  ASSERT_TRUE(WriteFileAtomic(JoinPath(Copy(), "Game/mine"), "mine").ok());
  ASSERT_TRUE(WriteFileAtomic(JoinPath(Copy(), "Game/c"), "edited").ok());
  Replace();
  director_->SetFile("a", "bytes of a");
  const SyncReport report = RunWhole();
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.kept, 1u);
  EXPECT_EQ(report.foreign, 2u);
  EXPECT_EQ(Read("Game/b"), "absent");
  EXPECT_EQ(Read("Game/c"), "edited");
  EXPECT_EQ(Read("Game/mine"), "mine");
}

TEST_F(SyncRunTest, FilesThatFailAreNamedAndTheOthersCome) {
  RunWhole();
  director_->SetFile("b", "fails");
  director_->SetFile("c", "new");
  ASSERT_TRUE(WriteFileAtomic(JoinPath(Copy(), "Game/d"), "mine").ok());
  director_->SetFile("d", "theirs");
  const SyncReport report = RunWhole();
  EXPECT_EQ(report.failed, 2u);
  EXPECT_THAT(Failed(), ElementsAre(HasSubstr("Game/b: it cannot be had: the shader has an error"),
                                    HasSubstr("no sync put there")));
  EXPECT_EQ(Read("Game/b"), "bytes of b") << "the one before stays";
  EXPECT_EQ(Read("Game/c"), "new");
  EXPECT_EQ(Read("Game/d"), "mine");
  director_->SetFile("b", "works again");
  std::filesystem::remove(JoinPath(Copy(), "Game/d"));
  EXPECT_EQ(RunWhole().failed, 0u);
  EXPECT_EQ(Read("Game/b"), "works again");
  EXPECT_EQ(Read("Game/d"), "theirs");
}

TEST_F(SyncRunTest, SomeOfTheTree) {
  EXPECT_EQ(RunWhole({"Game/a"}).files, 1u);
  EXPECT_EQ(Read("Game/b"), "absent");
  EXPECT_EQ(RunWhole({"Game"}).files, 2u);
  const auto report = Run({"Game/none"});
  EXPECT_TRUE(absl::IsNotFound(report.status())) << report.status();
  EXPECT_THAT(MessageOf(report.status()), HasSubstr("Game/none"));
  EXPECT_EQ(Read("Game/a"), "bytes of a");
  Replace();
  director_->SetFile("a", "bytes of a");
  EXPECT_EQ(RunWhole({"Game/b"}).removed, 1u) << "it was copied once, and the tree has it no more";
  EXPECT_EQ(Read("Game/b"), "absent");
  EXPECT_EQ(Read("Game/a"), "bytes of a") << "nobody asked about it";
}

TEST_F(SyncRunTest, WithoutADirectorNothingIsTouched) {
  RunWhole();
  director_->SetAway(true);
  const auto report = Run();
  EXPECT_TRUE(absl::IsUnavailable(report.status())) << report.status();
  EXPECT_EQ(Read("Game/a"), "bytes of a");
  EXPECT_EQ(Read("Game/b"), "bytes of b");
}

TEST_F(SyncRunTest, ACancelledSyncRemovesNothing) {
  RunWhole();
  Replace();
  director_->SetFile("a", "bytes of a");
  const auto handle = Handle::Create({.url = "http://fake:1",
                                      .platform = "pc",
                                      .cache_folder = JoinPath(base_, cache_),
                                      .net = director_->Net()});
  ASSERT_TRUE(handle.ok()) << handle.status();
  (*handle)->Cancel();
  const auto folder = TargetFolder::Open(Copy(), {.platform = "pc", .cultures = {}, .scopes = {}});
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto report =
      Sync(**handle, **folder,
           {.scopes = {}, .tell = [](const SyncEvent&) {}, .progress = [](const SyncReport&) {}});
  EXPECT_TRUE(absl::IsCancelled(report.status())) << report.status();
  EXPECT_EQ(Read("Game/b"), "bytes of b");
}

}  // namespace
}  // namespace galley::device
