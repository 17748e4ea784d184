#include "common/store/testing/verifying_blob_store.h"

#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

// A store that answers other bytes than it was given, and names digests that nobody asked for.
class LyingStore final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest>) override {
    return std::vector<Digest>{Digest::Of("unasked")};
  }
  absl::StatusOr<Blob> Get(const Digest&) override { return MakeBlob("a lie"); }
  absl::Status Put(const Digest&, std::string_view) override {
    ++puts;
    return absl::OkStatus();
  }
  int puts = 0;
};

TEST(VerifyingBlobStoreTest, PassesOnWhatIsRight) {
  const auto memory = std::make_shared<MemoryStore>();
  VerifyingBlobStore store(memory);
  const Digest digest = Digest::Of("right"), absent = Digest::Of("absent");
  EXPECT_TRUE(store.Put(digest, "right").ok());
  EXPECT_EQ(GetBytes(store, digest), "right");
  EXPECT_THAT(*store.FindMissing(std::vector<Digest>{digest, absent}),
              testing::ElementsAre(absent));
  EXPECT_EQ(store.Get(absent).status().code(), absl::StatusCode::kNotFound);
}

TEST(VerifyingBlobStoreTest, RefusesWhatALyingStoreAnswers) {
  const auto lying = std::make_shared<LyingStore>();
  VerifyingBlobStore store(lying);
  const Digest digest = Digest::Of("the truth");
  EXPECT_EQ(store.Get(digest).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(store.FindMissing(std::span(&digest, 1)).status().code(), absl::StatusCode::kInternal);
}

TEST(VerifyingBlobStoreTest, LetsNoWrongBytesIn) {
  const auto lying = std::make_shared<LyingStore>();
  VerifyingBlobStore store(lying);
  EXPECT_EQ(store.Put(Digest::Of("the truth"), "a lie").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(lying->puts, 0);
}

TEST(MemoryStoreTest, LosesACorruptBlobAsTheRealOneDoes) {
  MemoryStore store;
  const Digest digest = PutBytes(store, "rots");
  ASSERT_TRUE(store.Corrupt(digest));
  EXPECT_EQ(store.Get(digest).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(store.Get(digest).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(EpochOf(store), 1u);
}

}  // namespace
}  // namespace galley::store
