#include "common/store/local/live_index.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/open.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The index of a store that nobody has open.
class LiveIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string id;
    for (int part = 0; part < 2; ++part) {
      const auto store = *OpenLocalStore(directory_, {.sync = [](int) { return 0; }});
      for (int i = 0; i < 300; ++i)
        digests_.push_back(PutBytes(*store, fmt::format("blob {} of part {}", i, part)));
      ASSERT_TRUE(store->Commit({}).ok());
      id = store->Info()->store_id;
    }
    std::sort(digests_.begin(), digests_.end());
    TakeRepairs();
    deps_ = {.directory = directory_,
             .store_id = id,
             .boot_time = BootTime,
             .now = absl::Now,
             .synced_ends = &ends_};
    Open();
  }
  void Open() {
    auto stored = Index::Open(IndexPath(directory_), deps_.store_id);
    ASSERT_TRUE(stored.ok()) << stored.status();
    index_.emplace(*std::move(stored), deps_);
  }
  // Flips bytes in the blocks of every table except the last blocks, by which tables are opened.
  void FlipTables() {
    for (const auto& entry : fs::directory_iterator(IndexPath(directory_))) {
      if (entry.path().extension() != ".sst") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      for (uint64_t offset = 100; offset + 2000 < entry.file_size(); offset += 500) {
        file.seekg(static_cast<std::streamoff>(offset));
        const int byte = file.get();
        file.seekp(static_cast<std::streamoff>(offset));
        file.put(static_cast<char>(byte ^ 0x40));
      }
    }
  }
  size_t CountFound() {
    const auto found = index_->With(&Index::Blobs, digests_);
    EXPECT_TRUE(found.ok()) << found.status();
    return static_cast<size_t>(
        std::count_if(found->begin(), found->end(), [](const auto& at) { return at.has_value(); }));
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  std::vector<Digest> digests_;
  SyncedEnds ends_;
  IndexRebuild::Deps deps_;
  std::optional<LiveIndex> index_;
};

TEST_F(LiveIndexTest, AWalkGoesOnInTheNewIndexWhereItWas) {
  std::vector<Digest> visited;
  const auto visit = [&](const Digest& digest, const BlobLocation&) {
    // By now the first block is in memory, other blocks are not.
    if (visited.empty()) FlipTables();
    visited.push_back(digest);
    return absl::OkStatus();
  };
  ASSERT_TRUE(index_->Walk(&Index::ForEachBlob, visit).ok());
  EXPECT_THAT(visited, ElementsAreArray(digests_));
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
}

TEST_F(LiveIndexTest, APartOfAWalkHasSoManyKeysAllTheSame) {
  FlipTables();
  std::vector<Digest> visited;
  ASSERT_TRUE(index_
                  ->Walk(&Index::ForEachBlob, {.after = digests_[99], .keys_max = 150},
                         [&](const Digest& digest, const BlobLocation&) {
                           visited.push_back(digest);
                           return absl::OkStatus();
                         })
                  .ok());
  EXPECT_THAT(visited, ElementsAreArray(digests_.begin() + 100, digests_.begin() + 250));
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
}

TEST_F(LiveIndexTest, AnErrorOfAVisitorHealsNothing) {
  const absl::Status status = index_->Walk(
      &Index::ForEachBlob,
      [](const Digest&, const BlobLocation&) { return absl::DataLossError("a blob is wrong"); });
  EXPECT_EQ(status, absl::DataLossError("a blob is wrong"));
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(LiveIndexTest, ABatchThatWasBegunBeforeIsWrittenToTheNewIndex) {
  const Digest more = Digest::Of("more");
  IndexBatch batch;
  batch.SetBlob(more, {.segment = 1, .offset = 64});
  batch.RemoveBlob(digests_[7]);
  FlipTables();
  ASSERT_EQ(CountFound(), digests_.size());
  ASSERT_THAT(TakeRepairs(), SizeIs(1));
  batch.RemoveBlob(digests_[8]);
  ASSERT_TRUE(index_->Write(batch).ok());
  EXPECT_EQ(CountFound(), digests_.size() - 2);
  EXPECT_TRUE(index_->With(&Index::Blobs, std::span(&more, 1))->front().has_value());
  EXPECT_EQ(index_->counters().blobs, digests_.size() - 1);
}

TEST_F(LiveIndexTest, WhatABatchLosesHasALossEpochThatNobodyWasToldBefore) {
  IndexBatch batch;
  batch.SetEpoch(index_->epoch() + 1);
  batch.RemoveBlob(digests_[7]);
  FlipTables();
  const uint64_t before = index_->epoch();
  CountFound();
  const uint64_t told = index_->epoch();
  EXPECT_EQ(told, before + 1);
  ASSERT_TRUE(index_->Write(batch).ok());
  EXPECT_EQ(index_->epoch(), told + 1);
  index_.reset();
  EXPECT_EQ(EpochOf(**OpenLocalStore(directory_)), told + 1);
}

TEST_F(LiveIndexTest, WhatIsNotSyncedYetIsNotInTheNewIndex) {
  ends_.Set(1, fs::file_size(SegmentPath(directory_, 1)) / 2);
  FlipTables();
  const size_t found = CountFound();
  EXPECT_GT(found, digests_.size() / 4);
  EXPECT_LT(found, digests_.size());
}

TEST_F(LiveIndexTest, WhatIsNeededHasToBeFoundOutAgain) {
  const absl::StatusOr<Coverage> before = index_->Cover();
  ASSERT_TRUE(before.ok());
  EXPECT_TRUE(index_->StillCovers(*before).ok());
  FlipTables();
  EXPECT_TRUE(index_->StillCovers(*before).ok()) << "nobody met it";
  const absl::StatusOr<Coverage> after = index_->Cover();
  ASSERT_TRUE(after.ok());
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
  EXPECT_TRUE(absl::IsAborted(index_->StillCovers(*before)));
  EXPECT_TRUE(index_->StillCovers(*after).ok());
}

TEST_F(LiveIndexTest, OnAFullDiskNothingIsLostAndNothingIsRemoved) {
  const Coverage coverage = *index_->Cover();
  deps_.free_bytes_least = uint64_t{1} << 60;
  Open();
  FlipTables();
  for (int times = 0; times < 2; ++times) {
    const absl::Status status = index_->With(&Index::Blobs, digests_).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("it is " + directory_ +
                                                         "/index.broken-1 now, and another one "
                                                         "could not be made: no space"));
    EXPECT_TRUE(absl::IsResourceExhausted(index_->Cover().status()));
    EXPECT_TRUE(absl::IsAborted(index_->StillCovers(coverage)));
    EXPECT_FALSE(FileExists(IndexPath(directory_)));
  }
  EXPECT_THAT(TakeRepairs(), IsEmpty());
  index_.reset();
  const auto store = OpenLocalStore(directory_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(*(*store)->FindMissing(digests_), IsEmpty());
  EXPECT_THAT(TakeRepairs(), SizeIs(1));
}

TEST_F(LiveIndexTest, WhereRoomIsMissingTheOldestAsideMakeIt) {
  for (const char* name : {"/index.broken-4", "/index.broken-5", "/index.anew"})
    fs::create_directories(directory_ + name);
  deps_.free_bytes_least = uint64_t{1} << 60;
  Open();
  FlipTables();
  EXPECT_TRUE(absl::IsResourceExhausted(index_->With(&Index::Blobs, digests_).status()));
  EXPECT_FALSE(FileExists(directory_ + "/index.broken-4"));
  EXPECT_FALSE(FileExists(directory_ + "/index.broken-5"));
  EXPECT_FALSE(FileExists(directory_ + "/index.anew"));
  EXPECT_TRUE(FileExists(directory_ + "/index.broken-6")) << "it is still read";
}

TEST_F(LiveIndexTest, WhatIsDamagedAgainAtOnceIsTheMachinesDoing) {
  int flips = 0;
  const auto visit = [&](const Digest&, const BlobLocation&) {
    // Flips the existing index, and then the index that is made for this call.
    if (flips == 0 || (flips == 1 && FileExists(directory_ + "/index.broken-1"))) {
      FlipTables();
      ++flips;
    }
    return absl::OkStatus();
  };
  const absl::Status status = index_->Walk(&Index::ForEachBlob, visit);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("See to the disk and the memory"));
  EXPECT_EQ(flips, 2);
  EXPECT_FALSE(FileExists(directory_ + "/index.broken-2"));
  EXPECT_EQ(index_->With(&Index::Blobs, digests_).status(), status)
      << "no other is made in this process";
  EXPECT_FALSE(index_->Cover().ok());
  index_.reset();
  EXPECT_THAT(*(*OpenLocalStore(directory_))->FindMissing(digests_), IsEmpty());
}

}  // namespace
}  // namespace galley::store
