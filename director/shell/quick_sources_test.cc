#include "director/shell/quick_sources.h"

#include <unistd.h>

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;

class QuickSourcesTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/small.txt", "small");
    Write("content/large.txt", "");
    ASSERT_EQ(::truncate(Host("content/large.txt").c_str(), kLarge), 0);
    world_ = MakeWorld();
    large_ = MakeWorld()->snapshot->DigestOf("/Game/large.txt").value();
  }
  // Returns a result of small.txt that read the large file.
  StoredResult Result() const {
    StoredResult stored;
    stored.package = "/Game/small.txt";
    stored.source = Digest::Of("small");
    stored.observed = {{{ObservationKind::kFile, "large.txt", ""}, large_.ToString()}};
    return stored;
  }
  bool IsKnown(std::string_view path) const {
    return world_->snapshot->KnownDigest(path).has_value();
  }

  static constexpr int64_t kLarge = int64_t{QuickSources::kHashedMax} + 1;
  WorldPtr world_;
  Digest large_;
  Cancellation stop_;
};

TEST_F(QuickSourcesTest, AResultThatReadALargeFileWhichNobodyHashedDoesNotHold) {
  EXPECT_FALSE(FilesHoldQuickly(SourcesOf(world_), Result(), stop_));
  EXPECT_TRUE(IsKnown("/Game/small.txt"));
  EXPECT_FALSE(IsKnown("/Game/large.txt"));
  ASSERT_TRUE(world_->snapshot->LearnDigest("/Game/large.txt", large_).ok());
  EXPECT_TRUE(FilesHoldQuickly(SourcesOf(world_), Result(), stop_));
}

// A result that is committed at the end of a cook still holds.
TEST_F(QuickSourcesTest, WhatIsKnownIsAnsweredAlsoOnceNobodyWaits) {
  EXPECT_TRUE(FilesStillHold(*SourcesOf(world_), Result()));
  stop_.Cancel();
  EXPECT_TRUE(FilesHoldQuickly(SourcesOf(world_), Result(), stop_));
}

TEST_F(QuickSourcesTest, NoLookHashesOnceNobodyWaits) {
  stop_.Cancel();
  const QuickSources any_size(
      {.sources = SourcesOf(world_), .stop = stop_, .hashed_max = UINT64_MAX});
  for (const char* const name : {"small.txt", "large.txt"}) {
    EXPECT_TRUE(absl::IsCancelled(
        any_size.Look({ObservationKind::kFile, name, ""}, "/Game/small.txt").status()))
        << name;
    EXPECT_FALSE(IsKnown("/Game/" + std::string(name)));
  }
}

// CancelledWhileHashed: a Sources with one large file, which is cancelled while it is hashed.
class CancelledWhileHashed final : public Sources {
 public:
  explicit CancelledWhileHashed(Cancellation& stop) : stop_(stop) {}
  uint64_t number() const override { return 1; }
  PlatformsPtr platforms() const override { return nullptr; }
  RecipesPtr RecipesOf(std::string_view, bool) const override { return nullptr; }
  uint64_t SizeOf(std::string_view) const override { return QuickSources::kHashedMax + 1; }
  absl::StatusOr<Digest> DigestOf(std::string_view, const Cancellation* stop) const override {
    stop_.Cancel();
    if (stop == nullptr || !stop->is_cancelled()) return Digest::Of("hashed to the end");
    return absl::CancelledError("stopped");
  }
  std::optional<Digest> KnownDigest(std::string_view) const override { return std::nullopt; }
  absl::Status LearnDigest(std::string_view, const Digest&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Look(const record::Observation& what,
                                   std::string_view) const override {
    return DigestOf(what.subject, nullptr)->ToString();
  }
  std::string StagePath(std::string_view) const override { return ""; }

 private:
  Cancellation& stop_;
};

TEST_F(QuickSourcesTest, ALookAtALargeFileIsInterrupted) {
  const QuickSources any_size({.sources = std::make_shared<CancelledWhileHashed>(stop_),
                               .stop = stop_,
                               .hashed_max = UINT64_MAX});
  EXPECT_TRUE(absl::IsCancelled(
      any_size.Look({ObservationKind::kFile, "large.txt", ""}, "/Game/small.txt").status()));
}

}  // namespace
}  // namespace galley::director
