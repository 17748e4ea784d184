#include "common/store/local/pending_blobs.h"

#include "gtest/gtest.h"

namespace galley::store {
namespace {

TEST(PendingBlobsTest, TheBytesAreThoseOfTheBlobsThatAreThere) {
  const Digest one = Digest::Of("one"), three = Digest::Of("three");
  PendingBlobs pending;
  EXPECT_TRUE(pending.Add(one, {.segment = 1, .offset = 64}));
  EXPECT_TRUE(pending.Add(three, {}));
  EXPECT_EQ(pending.bytes(), 8u);
  EXPECT_FALSE(pending.Add(one, {.segment = 2, .offset = 64}));
  EXPECT_EQ(pending.bytes(), 8u);
  EXPECT_EQ(pending.Find(one), (BlobLocation{.segment = 1, .offset = 64}));
  pending.Move(one, {.segment = 2, .offset = 128});
  EXPECT_EQ(pending.Find(one), (BlobLocation{.segment = 2, .offset = 128}));
  pending.Remove(one);
  pending.Remove(one);
  EXPECT_EQ(pending.bytes(), 5u);
  EXPECT_EQ(pending.Find(one), std::nullopt);
  EXPECT_TRUE(pending.Has(three));
}

}  // namespace
}  // namespace galley::store
