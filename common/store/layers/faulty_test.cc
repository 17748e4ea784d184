#include "common/store/layers/faulty.h"

#include "common/store/layers/verifying_blob_store.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

class FaultyBlobStoreTest : public testing::Test {
 protected:
  std::shared_ptr<FaultyBlobStore> WithFault(BlobFault fault, double odds = 1) {
    return std::make_shared<FaultyBlobStore>(
        memory_, FaultyOptions{.odds = {{fault, odds}},
                               .pause = [this](absl::Duration time) { paused_ += time; }});
  }
  const std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  const Digest there_ = PutBytes(*memory_, "there");
  const Digest absent_ = Digest::Of("absent");
  absl::Duration paused_;
};

TEST_F(FaultyBlobStoreTest, WithoutFaultsItIsTheStoreBehindIt) {
  FaultyBlobStore store(memory_, {});
  EXPECT_EQ(GetBytes(store, there_), "there");
  EXPECT_TRUE(store.Put(absent_, "absent").ok());
  EXPECT_THAT(*store.FindMissing(std::vector<Digest>{there_, Digest::Of("more")}),
              testing::ElementsAre(Digest::Of("more")));
  EXPECT_THAT(store.Done(), testing::IsEmpty());
}

TEST_F(FaultyBlobStoreTest, EachFaultIsWhatItsNameSays) {
  EXPECT_TRUE(absl::IsUnavailable(WithFault(BlobFault::kUnavailable)->Put(absent_, "absent")));
  EXPECT_THAT(*memory_->FindMissing(std::span(&absent_, 1)), testing::ElementsAre(absent_));
  EXPECT_TRUE(absl::IsUnavailable(WithFault(BlobFault::kLostReply)->Put(absent_, "absent")));
  EXPECT_THAT(*memory_->FindMissing(std::span(&absent_, 1)), testing::IsEmpty());
  EXPECT_TRUE(absl::IsDeadlineExceeded(WithFault(BlobFault::kHang)->Get(there_).status()));
  EXPECT_EQ(paused_, absl::Seconds(10));
  EXPECT_EQ(GetBytes(*WithFault(BlobFault::kDelay), there_), "there");
  EXPECT_EQ(paused_, absl::Seconds(10) + absl::Milliseconds(10));
  EXPECT_TRUE(absl::IsNotFound(WithFault(BlobFault::kNotFound)->Get(there_).status()));
  EXPECT_THAT(*WithFault(BlobFault::kNotFound)->FindMissing(std::span(&there_, 1)),
              testing::ElementsAre(there_));
  const Digest more = Digest::Of("more");
  EXPECT_THAT(*WithFault(BlobFault::kSaysPresent)->FindMissing(std::span(&more, 1)),
              testing::IsEmpty());
  EXPECT_EQ(GetBytes(*WithFault(BlobFault::kFlippedByte), there_).size(), 5u);
  EXPECT_NE(GetBytes(*WithFault(BlobFault::kFlippedByte), there_), "there");
  EXPECT_LT(GetBytes(*WithFault(BlobFault::kShort), there_).size(), 5u);
}

TEST_F(FaultyBlobStoreTest, NoWrongBytesGetPastAVerifyingStore) {
  for (const BlobFault fault : {BlobFault::kFlippedByte, BlobFault::kShort}) {
    VerifyingBlobStore store(WithFault(fault));
    EXPECT_TRUE(absl::IsDataLoss(store.Get(there_).status()));
  }
}

TEST_F(FaultyBlobStoreTest, OneSeedIsOneHistory) {
  const auto history = [&](uint64_t seed) {
    FaultyBlobStore store(memory_, {.seed = seed, .odds = {{BlobFault::kUnavailable, 0.5}}});
    std::string text;
    for (int i = 0; i < 64; ++i) text += store.Get(there_).ok() ? '.' : 'x';
    EXPECT_GT(store.Done()[BlobFault::kUnavailable], 16u);
    EXPECT_LT(store.Done()[BlobFault::kUnavailable], 48u);
    return text;
  };
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

}  // namespace
}  // namespace galley::store
