#include "common/store/layers/metered.h"

#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

// A store that takes its time.
class SlowStore final : public BlobStore {
 public:
  SlowStore(std::shared_ptr<ManualClock> clock, absl::Duration time)
      : clock_(std::move(clock)), time_(time) {}
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    clock_->Advance(time_);
    return memory_.FindMissing(digests);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    clock_->Advance(time_);
    return memory_.Get(digest);
  }
  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    clock_->Advance(time_);
    return memory_.Put(digest, bytes);
  }

 private:
  MemoryStore memory_;
  const std::shared_ptr<ManualClock> clock_;
  const absl::Duration time_;
};

TEST(MeteredBlobStoreTest, CountsByMethodAndByHowItEnded) {
  const auto clock = std::make_shared<ManualClock>();
  MeteredBlobStore store(std::make_shared<SlowStore>(clock, absl::Milliseconds(3)), clock);
  const Digest digest = Digest::Of("right");
  EXPECT_TRUE(store.Put(digest, "right").ok());
  EXPECT_TRUE(store.Put(digest, "right").ok());
  EXPECT_FALSE(store.Put(digest, "wrong").ok());
  EXPECT_EQ(GetBytes(store, digest), "right");
  EXPECT_FALSE(store.Get(Digest::Of("absent")).ok());
  EXPECT_TRUE(store.FindMissing(std::vector<Digest>(7, digest)).ok());

  const BlobMeters meters = store.Counters();
  ASSERT_EQ(meters.size(), 5u);
  const BlobMeter& put = meters.at({BlobMethod::kPut, absl::StatusCode::kOk});
  EXPECT_EQ(put.calls, 2u);
  EXPECT_EQ(put.blobs, 2u);
  EXPECT_EQ(put.bytes, 10u);
  EXPECT_EQ(put.time, absl::Milliseconds(6));
  EXPECT_EQ(put.took[2], 2u) << "3 ms is less than 4 ms and not less than 2";
  const BlobMeter& refused = meters.at({BlobMethod::kPut, absl::StatusCode::kInvalidArgument});
  EXPECT_EQ(refused.calls, 1u);
  EXPECT_EQ(refused.bytes, 0u);
  EXPECT_EQ(meters.at({BlobMethod::kGet, absl::StatusCode::kOk}).bytes, 5u);
  EXPECT_EQ(meters.at({BlobMethod::kGet, absl::StatusCode::kNotFound}).calls, 1u);
  EXPECT_EQ(meters.at({BlobMethod::kFindMissing, absl::StatusCode::kOk}).blobs, 7u);
}

TEST(MeteredBlobStoreTest, WhatTakesForEverIsInTheLastBucket) {
  const auto clock = std::make_shared<ManualClock>();
  MeteredBlobStore store(std::make_shared<SlowStore>(clock, absl::Hours(1)), clock);
  EXPECT_FALSE(store.Get(Digest::Of("absent")).ok());
  EXPECT_EQ(store.Counters().at({BlobMethod::kGet, absl::StatusCode::kNotFound}).took.back(), 1u);
}

}  // namespace
}  // namespace galley::store
