#include "common/store/interface/sync_doubt.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Digest kA = Digest::Of("a"), kB = Digest::Of("b"), kC = Digest::Of("c");

TEST(SyncMarkTest, NamesTheFilesOfEachTimeItWasRaised) {
  const std::string bytes =
      EncodeSyncMark(std::vector<Digest>{kA, kB}) + EncodeSyncMark(std::vector<Digest>{kC});
  EXPECT_TRUE(DecodeSyncMark(bytes).is_marked);
  EXPECT_THAT(DecodeSyncMark(bytes).files, ElementsAre(kA, kB, kC));
}

TEST(SyncMarkTest, AListWithoutFilesIsAMarkToo) {
  EXPECT_TRUE(DecodeSyncMark(EncodeSyncMark({})).is_marked);
  EXPECT_THAT(DecodeSyncMark(EncodeSyncMark({})).files, IsEmpty());
  EXPECT_FALSE(DecodeSyncMark("").is_marked);
}

TEST(SyncMarkTest, AListTornAtAnyByteSaysNothingAndThoseBeforeItStand) {
  const std::string first = EncodeSyncMark(std::vector<Digest>{kA}),
                    second = EncodeSyncMark(std::vector<Digest>{kB, kC});
  for (size_t size = 0; size < second.size(); ++size) {
    const DecodedSyncMark alone = DecodeSyncMark(second.substr(0, size));
    EXPECT_FALSE(alone.is_marked || alone.is_damaged) << size;
    EXPECT_THAT(alone.files, IsEmpty()) << size;
    EXPECT_THAT(DecodeSyncMark(first + second.substr(0, size)).files, ElementsAre(kA)) << size;
  }
}

TEST(SyncMarkTest, ADamagedListIsAMarkToo) {
  const std::string right = EncodeSyncMark(std::vector<Digest>{kA, kB});
  for (size_t at = 0; at < right.size(); ++at) {
    std::string wrong = right;
    wrong[at] = static_cast<char>(wrong[at] ^ 1);
    EXPECT_TRUE(DecodeSyncMark(wrong).is_marked) << at;
    EXPECT_TRUE(DecodeSyncMark(wrong).is_damaged) << at;
  }
}

TEST(SyncMarkTest, OneThatWasRaisedTwiceStays) {
  std::string file;
  SyncMark mark({.append =
                     [&](const std::string& bytes) {
                       file += bytes;
                       return absl::OkStatus();
                     },
                 .remove =
                     [&] {
                       file.clear();
                       return absl::OkStatus();
                     }});
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kA}).ok());
  ASSERT_TRUE(mark.Lower().ok());
  EXPECT_EQ(file, "");
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kB}).ok());
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kC}).ok());  // the sync before went wrong
  ASSERT_TRUE(mark.Lower().ok());
  EXPECT_THAT(DecodeSyncMark(file).files, ElementsAre(kB, kC));
}

}  // namespace
}  // namespace galley::store
