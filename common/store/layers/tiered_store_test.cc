#include "common/store/layers/tiered_store.h"

#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

// A remote cache with the blobs of `there`, which counts the digests it is asked for.
class MemoryRemote final : public RemoteCache {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return there.FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return there.Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return there.Put(digest, bytes);
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests,
                                                  const RemoteLimits&) override {
    return there.FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest, const RemoteLimits&) override {
    return there.Get(digest);
  }
  absl::StatusOr<std::vector<Digest>> Fetch(std::span<const Digest> digests, BlobStore& into,
                                            const RemoteLimits&) override {
    std::vector<Digest> lacking;
    for (const Digest& digest : digests) {
      ++asked;
      const auto blob = there.Get(digest);
      if (!blob.ok() || !into.Put(digest, **blob).ok()) lacking.push_back(digest);
    }
    return lacking;
  }
  std::vector<Digest> Doubted(std::span<const Digest>) override { return {}; }
  absl::Status Send(std::span<const Digest>, BlobStore&, const RemoteLimits&) override {
    return absl::OkStatus();
  }
  std::vector<std::optional<std::string>> ActionResults(std::span<const Digest> keys,
                                                        const RemoteLimits&) override {
    return std::vector<std::optional<std::string>>(keys.size());
  }
  absl::Status UpdateActionResult(const Digest&, std::string_view, const RemoteLimits&) override {
    return absl::OkStatus();
  }
  RemoteState State() const override { return {}; }
  void Stop() override {}

  MemoryStore there;
  int asked = 0;
};

class TieredStoreTest : public testing::Test {
 protected:
  TieredStoreTest() {
    auto near = std::make_unique<MemoryStore>();
    near_ = near.get();
    store_ = std::make_unique<TieredStore>(std::move(near), far_);
  }
  MemoryStore* near_ = nullptr;
  const std::shared_ptr<MemoryRemote> far_ = std::make_shared<MemoryRemote>();
  std::unique_ptr<TieredStore> store_;
};

TEST_F(TieredStoreTest, WhatIsHereIsNotAskedForThere) {
  const Digest digest = PutBytes(*near_, "here");
  EXPECT_EQ(GetBytes(*store_, digest), "here");
  EXPECT_EQ(far_->asked, 0);
}

TEST_F(TieredStoreTest, WhatWasLostComesBackAndStays) {
  const Digest digest = PutBytes(far_->there, "lost");
  EXPECT_EQ(GetBytes(*store_, digest), "lost");
  EXPECT_EQ(GetBytes(*near_, digest), "lost");
  EXPECT_EQ(GetBytes(*store_, digest), "lost");
  EXPECT_EQ(far_->asked, 1);
  near_->Drop(digest);
  const auto reader = store_->NewReader(digest, 2);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(*(*reader)->Next(100), "st");
}

TEST_F(TieredStoreTest, WhatRottedComesBack) {
  const Digest digest = PutBytes(*near_, "rots");
  PutBytes(far_->there, "rots");
  ASSERT_TRUE(near_->Corrupt(digest));
  EXPECT_EQ(GetBytes(*store_, digest), "rots");
}

TEST_F(TieredStoreTest, WhatIsNowhereIsWhatOurOwnStoreSaysOfIt) {
  EXPECT_EQ(store_->Get(Digest::Of("absent")).status().code(), absl::StatusCode::kNotFound);
  const Digest digest = PutBytes(*near_, "rots");
  ASSERT_TRUE(near_->Corrupt(digest));
  EXPECT_EQ(store_->Get(digest).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(TieredStoreTest, WhatIsMissingHereIsMissing) {
  const Digest digest = PutBytes(far_->there, "there");
  EXPECT_THAT(*store_->FindMissing(std::span(&digest, 1)), testing::ElementsAre(digest));
  EXPECT_EQ(far_->asked, 0);
}

}  // namespace
}  // namespace galley::store
