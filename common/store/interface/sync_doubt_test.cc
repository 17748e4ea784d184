#include "common/store/interface/sync_doubt.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Digest kFirst = Digest::Of("a"), kSecond = Digest::Of("b"), kThird = Digest::Of("c");

TEST(SyncMarkTest, NamesTheFilesOfEachTimeItWasRaised) {
  const std::string bytes = EncodeSyncMark(std::vector<Digest>{kFirst, kSecond}) +
                            EncodeSyncMark(std::vector<Digest>{kThird});
  EXPECT_TRUE(DecodeSyncMark(bytes).is_marked);
  EXPECT_THAT(DecodeSyncMark(bytes).files, ElementsAre(kFirst, kSecond, kThird));
}

TEST(SyncMarkTest, AListWithoutFilesIsAMarkToo) {
  EXPECT_TRUE(DecodeSyncMark(EncodeSyncMark({})).is_marked);
  EXPECT_THAT(DecodeSyncMark(EncodeSyncMark({})).files, IsEmpty());
  EXPECT_FALSE(DecodeSyncMark("").is_marked);
}

TEST(SyncMarkTest, AListTornAtAnyByteSaysNothingAndThoseBeforeItStand) {
  const std::string first = EncodeSyncMark(std::vector<Digest>{kFirst}),
                    second = EncodeSyncMark(std::vector<Digest>{kSecond, kThird});
  for (size_t size = 0; size < second.size(); ++size) {
    const DecodedSyncMark alone = DecodeSyncMark(second.substr(0, size));
    EXPECT_FALSE(alone.is_marked || alone.is_damaged) << size;
    EXPECT_THAT(alone.files, IsEmpty()) << size;
    EXPECT_THAT(DecodeSyncMark(first + second.substr(0, size)).files, ElementsAre(kFirst)) << size;
  }
}

TEST(SyncMarkTest, ADamagedListIsAMarkToo) {
  const std::string right = EncodeSyncMark(std::vector<Digest>{kFirst, kSecond});
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
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kFirst}).ok());
  ASSERT_TRUE(mark.Lower().ok());
  EXPECT_EQ(file, "");
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kSecond}).ok());
  ASSERT_TRUE(mark.Raise(std::vector<Digest>{kThird}).ok());  // the sync before has failed
  ASSERT_TRUE(mark.Lower().ok());
  EXPECT_THAT(DecodeSyncMark(file).files, ElementsAre(kSecond, kThird));
}

}  // namespace
}  // namespace galley::store
