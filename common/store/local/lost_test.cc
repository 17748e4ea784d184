// Files and segments that somebody deletes below an open store, and FindLost.
#include <algorithm>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_writer.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

class LostTest : public testing::Test {
 protected:
  void SetUp() override {
    TakeRepairs();  // what tests before noted
    Open();
  }
  void Open() {
    store_.reset();
    store_ = *OpenLocalStore(directory_, {.sync = [](int) { return 0; }});
  }
  Digest Put(std::string_view bytes) {
    const Digest digest = Digest::Of(bytes);
    EXPECT_TRUE(store_->Put(digest, bytes).ok());
    EXPECT_TRUE(store_->Commit({}).ok());
    return digest;
  }
  // Puts a blob that is larger than a segment.
  Digest PutLarge(char what) { return Put(std::string((1 << 20) + 1, what)); }
  // Writes blobs into a segment of their own.
  std::vector<Digest> WriteAsWorker(int count) {
    const uint64_t segment = *store_->AllocateSegment();
    const auto writer = *SegmentWriter::Open(directory_, segment);
    CommitBatch batch;
    for (int i = 0; i < count; ++i)
      batch.blobs.push_back(*writer->Append(std::to_string(i) + std::string(100, 'x')));
    EXPECT_TRUE(store_->Commit(batch).ok());
    std::vector<Digest> digests;
    for (const auto& [digest, location] : batch.blobs) digests.push_back(digest);
    segment_ = SegmentPath(directory_, segment);
    return digests;
  }
  std::vector<Digest> Missing(const std::vector<Digest>& digests) {
    return *store_->FindMissing(digests);
  }
  std::vector<Digest> Lost(const std::vector<Digest>& digests) {
    const auto lost = store_->FindLost(digests);
    EXPECT_TRUE(lost.ok()) << lost.status();
    return lost.value_or(std::vector<Digest>());
  }
  uint64_t Epoch() { return store_->Info()->loss_epoch; }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  std::unique_ptr<StoreDirectory> store_;
  std::string segment_;
};

TEST_F(LostTest, NothingIsLostThatIsThere) {
  std::vector<Digest> digests = WriteAsWorker(10);
  digests.push_back(PutLarge('a'));
  digests.push_back(Put("small"));
  digests.push_back(Digest());
  const uint64_t epoch = Epoch();
  EXPECT_THAT(Lost(digests), IsEmpty());
  EXPECT_EQ(Epoch(), epoch);
  const Digest never = Digest::Of("never put");
  EXPECT_THAT(Lost({digests[0], never}), ElementsAre(never)) << "as FindMissing";
  EXPECT_EQ(Epoch(), epoch);
}

TEST_F(LostTest, FilesThatAreGoneOrCutAreDroppedTogether) {
  const Digest gone = PutLarge('a'), cut = PutLarge('b'), whole = PutLarge('c');
  fs::remove(BlobFilePath(directory_, gone));
  fs::permissions(BlobFilePath(directory_, cut), fs::perms::owner_all);
  fs::resize_file(BlobFilePath(directory_, cut), 5);
  const uint64_t epoch = Epoch();
  EXPECT_THAT(Missing({gone, cut, whole}), IsEmpty()) << "the index still lists them";
  EXPECT_THAT(Lost({gone, whole, cut}), ElementsAre(gone, cut));
  EXPECT_EQ(Epoch(), epoch + 1) << "once";
  EXPECT_THAT(Missing({gone, cut, whole}), ElementsAre(gone, cut)) << "everybody is told";
  EXPECT_FALSE(fs::is_empty(directory_ + "/quarantine")) << "what is left of one is kept";
  // A blob that was dropped is put again, and stays known.
  PutLarge('a');
  PutLarge('b');
  EXPECT_THAT(Lost({gone, cut, whole}), IsEmpty());
  Open();
  EXPECT_THAT(Lost({gone, cut, whole}), IsEmpty());
  EXPECT_EQ(Epoch(), epoch + 1);
}

TEST_F(LostTest, ASegmentThatIsDeletedLosesAllThatWasInIt) {
  const std::vector<Digest> digests = WriteAsWorker(20);
  fs::remove(segment_);
  EXPECT_THAT(Lost({digests[3]}), ElementsAre(digests[3])) << "no more than was asked about";
  EXPECT_THAT(Lost(digests), UnorderedElementsAreArray(digests));
  EXPECT_THAT(Missing(digests), UnorderedElementsAreArray(digests));
}

TEST_F(LostTest, AFolderInThePlaceOfASegmentOrFileIsALoss) {
  const std::vector<Digest> digests = WriteAsWorker(3);
  const Digest large = PutLarge('f');
  for (const std::string& path : {segment_, BlobFilePath(directory_, large)}) {
    fs::remove(path);
    fs::create_directories(path + "/mine");
  }
  EXPECT_TRUE(absl::IsDataLoss(store_->Get(digests[0]).status()));
  EXPECT_THAT(Lost({digests[1], digests[2], large}),
              UnorderedElementsAreArray({digests[1], digests[2], large}));
  EXPECT_TRUE(fs::exists(segment_ + "/mine"));
}

TEST_F(LostTest, ASegmentThatIsCutLosesItsEnd) {
  const std::vector<Digest> digests = WriteAsWorker(20);
  const uint64_t size = fs::file_size(segment_);
  fs::resize_file(segment_, size / 2);
  const std::vector<Digest> lost = Lost(digests);
  EXPECT_GT(lost.size(), 5u);
  EXPECT_LT(lost.size(), 15u);
  for (const Digest& digest : digests)
    EXPECT_EQ(store_->Get(digest).ok(), std::count(lost.begin(), lost.end(), digest) == 0);
}

// The owner has the segment open, with all its bytes.
TEST_F(LostTest, TheSegmentThatIsBeingFilledGetsItsNameAgain) {
  const Digest first = Put("first");
  const std::vector<SegmentListing> segments = *ListSegments(directory_);
  ASSERT_FALSE(segments.empty());
  for (const SegmentListing& segment : segments)
    fs::remove(SegmentPath(directory_, segment.number));
  const Digest pending = Digest::Of("pending");
  ASSERT_TRUE(store_->Put(pending, "pending").ok());
  const uint64_t epoch = Epoch();
  EXPECT_THAT(Lost({first, pending}), IsEmpty());
  EXPECT_EQ(Epoch(), epoch);
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("was deleted while it was written to")));
  EXPECT_TRUE(store_->Commit({}).ok());
  EXPECT_EQ(**store_->Get(first), "first");
  EXPECT_EQ(**store_->Get(pending), "pending");
  Open();
  EXPECT_THAT(Lost({first, pending}), IsEmpty());
  EXPECT_EQ(**store_->Get(first), "first");
}

TEST_F(LostTest, ACommitGivesTheSegmentThatIsBeingFilledItsNameAgain) {
  const Digest first = Put("first");
  const std::vector<SegmentListing> segments = *ListSegments(directory_);
  for (const SegmentListing& segment : segments)
    fs::remove(SegmentPath(directory_, segment.number));
  const Digest second = Put("second");
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
  Open();
  EXPECT_EQ(**store_->Get(first), "first");
  EXPECT_EQ(**store_->Get(second), "second");
  EXPECT_THAT(Lost({first, second}), IsEmpty());
}

// The index still lists the first place: somebody who makes the blob again, without having been
// told of a loss, has it again.
TEST_F(LostTest, WhatIsMadeAgainInAnotherSegmentIsThereThough) {
  const std::vector<Digest> digests = WriteAsWorker(5);
  fs::remove(segment_);
  const std::vector<Digest> again = WriteAsWorker(5);
  EXPECT_EQ(again, digests);
  for (const Digest& digest : digests) EXPECT_TRUE(store_->Get(digest).ok());
  EXPECT_THAT(Lost(digests), IsEmpty());
  fs::remove(segment_);
  const Digest put = Put(std::to_string(3) + std::string(100, 'x'));
  EXPECT_EQ(put, digests[3]);
  EXPECT_TRUE(store_->Get(put).ok());
  Open();
  EXPECT_TRUE(store_->Get(put).ok());
}

}  // namespace
}  // namespace galley::store
