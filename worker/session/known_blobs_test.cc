#include "worker/session/known_blobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

namespace galley::worker {
namespace {

using store::BlobLocation;
using testing::IsEmpty;
using testing::SizeIs;

class KnownBlobsTest : public testing::Test {
 protected:
  static Digest Large(int i) {
    return Digest::Of(std::to_string(i) + std::string(KnownBlobs::kAskBytesMin, '.'));
  }
  std::vector<Digest> asked_;
  std::map<Digest, BlobLocation> store_;
  std::function<void()> on_ask_;
  KnownBlobs known_{[this](const Digest& digest) {
    asked_.push_back(digest);
    if (on_ask_) on_ask_();
    const auto found = store_.find(digest);
    return found == store_.end() ? std::nullopt : std::optional(found->second);
  }};
};

TEST_F(KnownBlobsTest, WhatWasWrittenIsKnownUntilTheStoreIsAnother) {
  const Digest digest = Digest::Of("small");
  EXPECT_EQ(known_.Find(digest), std::nullopt);
  known_.Add(digest, {.segment = 2, .offset = 64});
  EXPECT_EQ(known_.Find(digest), (BlobLocation{.segment = 2, .offset = 64}));
  known_.Forget();
  EXPECT_EQ(known_.Find(digest), std::nullopt);
  EXPECT_THAT(asked_, IsEmpty()) << "the store is not asked for what is small";
}

TEST_F(KnownBlobsTest, TheStoreIsAskedOnceForWhatItHas) {
  store_[Large(1)] = {.segment = 7, .offset = 128};
  EXPECT_EQ(known_.Find(Large(1)), (BlobLocation{.segment = 7, .offset = 128}));
  EXPECT_EQ(known_.Find(Large(1)), (BlobLocation{.segment = 7, .offset = 128}));
  EXPECT_THAT(asked_, SizeIs(1));
}

// The answer is for a session that has ended since.
TEST_F(KnownBlobsTest, AnAnswerThatComesAfterAllWasForgottenIsNotRemembered) {
  store_[Large(1)] = {.segment = 7, .offset = 128};
  on_ask_ = [this] { known_.Forget(); };
  EXPECT_EQ(known_.Find(Large(1)), std::nullopt);
  on_ask_ = nullptr;
  store_.clear();
  EXPECT_EQ(known_.Find(Large(1)), std::nullopt);
  EXPECT_THAT(asked_, SizeIs(2));
}

TEST_F(KnownBlobsTest, WhatIsNewIsSeldomAskedFor) {
  constexpr int kBlobs = 1'600;
  for (int i = 0; i < kBlobs; ++i) EXPECT_EQ(known_.Find(Large(i)), std::nullopt);
  EXPECT_LE(asked_.size(), KnownBlobs::kMissesMax + kBlobs / KnownBlobs::kProbeEvery);
  // After a hit, the store is asked for every blob again.
  store_[Large(0)] = {};
  uint32_t looks = 1;
  while (!known_.Find(Large(0)).has_value() && looks < KnownBlobs::kProbeEvery) ++looks;
  asked_.clear();
  constexpr int kNew = KnownBlobs::kMissesMax;
  for (int i = kBlobs; i < kBlobs + kNew; ++i) EXPECT_EQ(known_.Find(Large(i)), std::nullopt);
  EXPECT_THAT(asked_, SizeIs(kNew));
}

TEST_F(KnownBlobsTest, WhatWasWrittenLongAgoIsForgotten) {
  const auto digest = [](size_t i) { return Digest::Of(std::to_string(i)); };
  for (size_t i = 0; i < 2 * KnownBlobs::kRememberedMax + 1; ++i)
    known_.Add(digest(i), {.segment = 1, .offset = i});
  EXPECT_EQ(known_.Find(digest(0)), std::nullopt);
  EXPECT_TRUE(known_.Find(digest(KnownBlobs::kRememberedMax + 1)).has_value());
}

}  // namespace
}  // namespace galley::worker
