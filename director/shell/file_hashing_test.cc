#include "director/shell/file_hashing.h"

#include <atomic>
#include <future>

#include "common/base/testing/await.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// SlowSources: files whose hashing waits until the test lets the hashing go on, or stops it.
class SlowSources final : public Sources {
 public:
  explicit SlowSources(uint64_t size_bytes) : size_bytes_(size_bytes) {}
  void LetGo() { released_.set_value(); }
  int hashed() const { return hashed_; }

  uint64_t number() const override { return 1; }
  PlatformsPtr platforms() const override { return nullptr; }
  RecipesPtr RecipesOf(std::string_view, bool) const override { return nullptr; }
  uint64_t SizeOf(std::string_view) const override { return size_bytes_; }
  absl::StatusOr<Digest> DigestOf(std::string_view path, const Cancellation* stop) const override {
    ++hashed_;
    while (!stop->is_cancelled() &&
           let_go_.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    }
    if (stop->is_cancelled()) return absl::CancelledError("stopped");
    if (path == "/changed") return absl::AbortedError("changed");
    return Digest::Of(path);
  }
  std::optional<Digest> KnownDigest(std::string_view) const override { return std::nullopt; }
  absl::Status LearnDigest(std::string_view, const Digest&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Look(const record::Observation&, std::string_view) const override {
    return absl::NotFoundError("no file");
  }
  std::string StagePath(std::string_view) const override { return ""; }

 private:
  const uint64_t size_bytes_;
  std::promise<void> released_;
  const std::shared_future<void> let_go_ = released_.get_future().share();
  mutable std::atomic<int> hashed_ = 0;
};

class FileHashingTest : public ::testing::Test {
 protected:
  // Returns a future of the answer.
  std::future<FailedHashes> Ask(const SourcesPtr& sources, std::vector<std::string> paths) {
    auto promise = std::make_shared<std::promise<FailedHashes>>();
    hashing_->Hash(sources, std::move(paths),
                   [promise](FailedHashes failed) { promise->set_value(std::move(failed)); });
    return promise->get_future();
  }

  const WaitLimit limit_{"the end of the hashing"};
  Cancellation stop_;
  std::unique_ptr<FileHashing> hashing_ = std::make_unique<FileHashing>(stop_);
};

TEST_F(FileHashingTest, AFileThatSeveralAskForIsHashedOnceAtATime) {
  const auto sources = std::make_shared<SlowSources>(100 << 20);
  auto one = Ask(sources, {"/a"});
  auto other = Ask(sources, {"/a"});
  sources->LetGo();
  EXPECT_THAT(one.get(), IsEmpty());
  EXPECT_THAT(other.get(), IsEmpty());
  EXPECT_EQ(sources->hashed(), 1);
}

TEST_F(FileHashingTest, FilesThatCannotBeHashedAreNamedAndTheOthersAreHashed) {
  const auto sources = std::make_shared<SlowSources>(100 << 20);
  sources->LetGo();
  const FailedHashes failed = Ask(sources, {"/a", "/changed", "/b"}).get();
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_TRUE(absl::IsAborted(failed.at("/changed")));
  EXPECT_EQ(sources->hashed(), 3);
}

TEST_F(FileHashingTest, HugeFilesHoldUpNoLargeOne) {
  const auto huge = std::make_shared<SlowSources>(FileHashing::kHugeBytes);
  auto first = Ask(huge, {"/x"});
  auto second = Ask(huge, {"/y"});
  auto third = Ask(huge, {"/z"});
  const auto large = std::make_shared<SlowSources>(FileHashing::kHugeBytes - 1);
  large->LetGo();
  EXPECT_THAT(Ask(large, {"/a"}).get(), IsEmpty());
  huge->LetGo();
  EXPECT_THAT(first.get(), IsEmpty());
  EXPECT_THAT(second.get(), IsEmpty());
  EXPECT_THAT(third.get(), IsEmpty());
}

TEST_F(FileHashingTest, ItsEndWaitsForNoFileOnceItIsStopped) {
  const auto sources = std::make_shared<SlowSources>(FileHashing::kHugeBytes);
  auto begun = Ask(sources, {"/x"});
  AwaitOrFail([&] { return sources->hashed() != 0; }, "a file whose hashing has begun");
  stop_.Cancel();
  hashing_.reset();
  EXPECT_TRUE(absl::IsCancelled(begun.get().at("/x")));
}

}  // namespace
}  // namespace galley::director
