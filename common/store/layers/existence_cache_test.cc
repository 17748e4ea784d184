#include "common/store/layers/existence_cache.h"

#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A store that counts the digests it is asked for.
class CountingStore final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    asked += digests.size();
    if (lies) return std::vector<Digest>(digests.rbegin(), digests.rend());
    return memory.FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override { return memory.Get(digest); }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return memory.Put(digest, bytes);
  }
  MemoryStore memory;
  size_t asked = 0;
  bool lies = false;
};

class ExistenceCacheTest : public testing::Test {
 protected:
  std::vector<Digest> MissingOf(const std::vector<Digest>& digests) {
    const auto missing = cache_.FindMissing(digests);
    EXPECT_TRUE(missing.ok()) << missing.status();
    return missing.ok() ? *missing : std::vector<Digest>();
  }
  const std::shared_ptr<CountingStore> behind_ = std::make_shared<CountingStore>();
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  ExistenceCache cache_{behind_, clock_, {.time_to_live = absl::Seconds(60), .count_max = 4}};
  const Digest there_ = PutBytes(behind_->memory, "there");
  const Digest absent_ = Digest::Of("absent");
};

TEST_F(ExistenceCacheTest, WhatIsThereIsAskedForOnce) {
  EXPECT_THAT(MissingOf({there_, absent_}), ElementsAre(absent_));
  EXPECT_THAT(MissingOf({there_}), IsEmpty());
  EXPECT_EQ(behind_->asked, 2u);
}

TEST_F(ExistenceCacheTest, AbsenceIsNotRemembered) {
  EXPECT_THAT(MissingOf({absent_}), ElementsAre(absent_));
  PutBytes(behind_->memory, "absent");
  EXPECT_THAT(MissingOf({absent_}), IsEmpty());
}

TEST_F(ExistenceCacheTest, WhatWasPutOrReadIsThere) {
  EXPECT_TRUE(cache_.Put(absent_, "absent").ok());
  EXPECT_TRUE(cache_.Get(there_).ok());
  EXPECT_THAT(MissingOf({absent_, there_}), IsEmpty());
  EXPECT_EQ(behind_->asked, 0u);
}

TEST_F(ExistenceCacheTest, PresenceIsForgottenInTime) {
  MissingOf({there_});
  clock_->Advance(absl::Seconds(59));
  behind_->memory.Drop(there_);
  EXPECT_THAT(MissingOf({there_}), IsEmpty());
  clock_->Advance(absl::Seconds(1));
  EXPECT_THAT(MissingOf({there_}), ElementsAre(there_));
}

TEST_F(ExistenceCacheTest, AGetThatFindsNothingOrWrongBytesForgets) {
  MissingOf({there_});
  behind_->memory.Drop(there_);
  EXPECT_EQ(cache_.Get(there_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MissingOf({there_}), ElementsAre(there_));

  PutBytes(behind_->memory, "there");
  MissingOf({there_});
  ASSERT_TRUE(behind_->memory.Corrupt(there_));
  EXPECT_EQ(cache_.Get(there_).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(MissingOf({there_}), ElementsAre(there_));
}

TEST_F(ExistenceCacheTest, TheSameHashWithAnotherSizeIsAnotherBlob) {
  MissingOf({there_});
  const Digest other = *Digest::FromHash(there_.hash(), there_.size_bytes() + 1);
  EXPECT_THAT(MissingOf({other}), ElementsAre(other));
}

TEST_F(ExistenceCacheTest, AStoreThatAnswersOutOfOrderIsNotRemembered) {
  behind_->lies = true;
  MissingOf({there_, absent_});
  behind_->lies = false;
  EXPECT_THAT(MissingOf({there_, absent_}), ElementsAre(absent_));
  EXPECT_EQ(behind_->asked, 4u);
}

TEST_F(ExistenceCacheTest, ItKeepsToItsLimit) {
  std::vector<Digest> all;
  for (int i = 0; i < 6; ++i) all.push_back(PutBytes(behind_->memory, std::to_string(i)));
  MissingOf(all);
  MissingOf(all);
  // If the cache had kept all six, the second question would have asked for none.
  EXPECT_GT(behind_->asked, 6u);
  MissingOf({all[5]});
  EXPECT_LE(behind_->asked, 12u) << "the newest is remembered";
}

}  // namespace
}  // namespace galley::store
