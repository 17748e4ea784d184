// Tests of GiveBackDeadBytes after a cook.
#include <filesystem>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/store/interface/dead_bytes.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

constexpr size_t kBlobBytes = 400'000;

class DeadBytesTest : public GcTest {
 protected:
  // Workers that each append all of `blobs`, as two cooks of equal content do.
  void CookTwice(int blobs, size_t blob_bytes = kBlobBytes, int workers = 2) {
    for (int worker = 0; worker < workers; ++worker) {
      const auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
      for (int i = 0; i < blobs; ++i) {
        const auto written = *writer->Append(fmt::format("{}", i) + std::string(blob_bytes, '.'));
        const PutResult result = SampleResult(fmt::format("{} of {}", i, worker), written.first);
        ASSERT_TRUE(store_->Commit({.blobs = {written}, .results = {result}}).ok());
        if (worker == 0) outputs_.push_back(written.first);
      }
    }
    Pass();
  }
  // Nobody ever adopted a third of each worker's bytes.
  void CookAndDieOften() {
    for (int worker = 0; worker < 8; ++worker) {
      const auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
      for (int i = 0; i < 12; ++i) {
        const auto written =
            *writer->Append(fmt::format("{} of {}", i, worker) + std::string(kBlobBytes, '.'));
        if (i % 3 == 0) continue;
        ASSERT_TRUE(store_->Commit({.blobs = {written}}).ok());
        outputs_.push_back(written.first);
      }
    }
    Pass();
  }
  GcReport GiveBack(Cancellation* cancellation = nullptr) {
    const auto report = dynamic_cast<DeadBytes&>(*store_).GiveBackDeadBytes(cancellation);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(GcReport{});
  }
  double PerLiveByte() {
    const StoreStats stats = *store_->Stats();
    return static_cast<double>(stats.segment_bytes + stats.file_bytes) /
           static_cast<double>(stats.blob_bytes);
  }
  void CheckAll() {
    for (const Digest& digest : outputs_) EXPECT_TRUE(store_->Get(digest).ok());
    EXPECT_THAT(store_->Verify()->problems, IsEmpty());
  }
  std::vector<Digest> outputs_;
};

TEST_F(DeadBytesTest, WhatTwoWorkersAppendedLiesThereOnce) {
  CookTwice(10);
  EXPECT_GT(PerLiveByte(), 1.9);
  const GcReport report = GiveBack();
  EXPECT_GE(report.freed_bytes - report.moved_bytes, 10 * kBlobBytes);
  EXPECT_EQ(report.dropped_blobs, 0u);
  EXPECT_LT(PerLiveByte(), 1.25);
  CheckAll();
  Open();
  CheckAll();
  EXPECT_EQ(GiveBack().freed_bytes, 0u) << "once";
}

// Every segment is mostly live: the segments with the largest dead part go until little is dead.
TEST_F(DeadBytesTest, WhatIsDeadAllOverTheStoreIsGivenBackTillAFifth) {
  CookAndDieOften();
  EXPECT_GT(PerLiveByte(), 1.45);
  const GcReport report = GiveBack();
  EXPECT_GT(report.moved_bytes, 0u);
  EXPECT_LT(PerLiveByte(), 1.25);
  EXPECT_GT(PerLiveByte(), 1.05) << "no more is written again than need be";
  CheckAll();
}

// Somebody waits for the end of each collection.
TEST_F(DeadBytesTest, AfterEachCookABoundedAmountIsWrittenAgainTillAllIsDone) {
  moved_bytes_max_ = 5'500'000;
  Open();
  for (int worker = 0; worker < 4; ++worker) {
    const auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
    for (int i = 0; i < 12; ++i) {
      const auto written =
          *writer->Append(fmt::format("{} of {}", i, worker) + std::string(kBlobBytes, '.'));
      if (i >= 5) continue;
      ASSERT_TRUE(store_->Commit({.blobs = {written}}).ok());
      outputs_.push_back(written.first);
    }
  }
  Pass();
  int runs = 0;
  uint64_t moved_bytes = 0;
  for (GcReport report = GiveBack(); report.freed_bytes > 0 && runs < 10; report = GiveBack()) {
    EXPECT_LE(report.moved_bytes, moved_bytes_max_);
    moved_bytes += report.moved_bytes;
    ++runs;
  }
  EXPECT_GE(runs, 2);
  EXPECT_GT(moved_bytes, moved_bytes_max_);
  EXPECT_LT(PerLiveByte(), 1.25);
  CheckAll();
}

TEST_F(DeadBytesTest, WhatASessionThatBeganMeanwhileHeldGoesTheNextTime) {
  CookAndDieOften();
  std::optional<Session> session;
  on_sync_ = [&] {
    if (!session.has_value()) session.emplace(*Session::Begin(directory_, "another cook"));
    return 0;
  };
  const GcReport held = GiveBack();
  on_sync_ = nullptr;
  ASSERT_TRUE(session.has_value());
  EXPECT_GT(held.moved_bytes, 0u);
  EXPECT_EQ(held.freed_bytes, 0u);
  EXPECT_GT(PerLiveByte(), 1.45);
  session.reset();
  const GcReport report = GiveBack();
  EXPECT_GT(report.freed_bytes, 0u);
  EXPECT_LT(PerLiveByte(), 1.25);
  CheckAll();
  EXPECT_EQ(GiveBack().freed_bytes, 0u) << "once";
}

TEST_F(DeadBytesTest, OfASmallStoreAsMuchIsGivenBack) {
  CookTwice(20, 5'000);
  EXPECT_GT(PerLiveByte(), 1.9);
  EXPECT_GT(GiveBack().freed_bytes, 0u);
  EXPECT_LT(PerLiveByte(), 1.25);
  CheckAll();
  EXPECT_EQ(GiveBack().freed_bytes, 0u) << "once";
}

TEST_F(DeadBytesTest, LittleIsLeftWhereItIs) {
  CookTwice(2, 20'000);
  EXPECT_EQ(GiveBack().freed_bytes, 0u) << "less than 64 KiB";
  CheckAll();
}

TEST_F(DeadBytesTest, NothingIsDoneWhileASessionLives) {
  CookTwice(10);
  std::optional<Session> session(*Session::Begin(directory_, "cook"));
  const GcReport report = GiveBack();
  EXPECT_EQ(report.freed_bytes + report.moved_bytes, 0u);
  EXPECT_EQ(report.held_by.size(), 1u);
  session.reset();
  EXPECT_GT(GiveBack().freed_bytes, 0u);
}

TEST_F(DeadBytesTest, AWorkersSegmentStaysWhileTheWorkerHasIt) {
  CookTwice(10);
  const auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
  ASSERT_TRUE(writer->Append("of a worker that lives").ok());
  GiveBack();
  EXPECT_TRUE(writer->Append("more of it").ok());
}

// Bytes that were moved by an earlier collection died again: the segment that the owner fills goes,
// too.
TEST_F(DeadBytesTest, TheSegmentThatIsFilledGoesWhenMostOfItIsDead) {
  CookTwice(10);
  GiveBack();
  Publish("windows", {outputs_[0]});
  const absl::Duration long_ago = absl::Hours(24 * 7);
  Pass(long_ago);
  const GcReport told = Collect({.bytes_max = 0, .is_dry = true});
  const GcReport done = Collect(kAll);
  EXPECT_EQ(done.freed_bytes, told.freed_bytes);
  EXPECT_GE(done.freed_bytes, 9 * kBlobBytes);
  EXPECT_LT(store_->Stats()->segment_bytes, 2 * kBlobBytes);
  outputs_.resize(1);
  CheckAll();
  Open();
  CheckAll();
  store_.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  Open();
  CheckAll();
  EXPECT_EQ(store_->Stats()->results, 2u);
}

TEST_F(DeadBytesTest, CutOffAnywhereItHasLostNothing) {
  CookAndDieOften();
  std::vector<std::string> copies;
  on_sync_ = [&] {
    copies.push_back(folder_.In(fmt::format("cut{}", copies.size())));
    Copy(copies.back());
    return 0;
  };
  GiveBack();
  on_sync_ = nullptr;
  ASSERT_GT(copies.size(), 1u);
  for (const std::string& copy : copies) {
    for (const bool with_index : {true, false}) {
      SCOPED_TRACE(copy);
      if (!with_index) fs::remove_all(JoinPath(copy, "index"));
      const auto store = *OpenLocalStore(copy, {.sync = [](int) { return 0; }});
      for (const Digest& digest : outputs_) EXPECT_TRUE(store->Get(digest).ok());
      EXPECT_EQ(store->Stats()->blobs, outputs_.size());
    }
  }
}

// Packages without outputs leave only results, whose sizes the index does not know.
TEST_F(DeadBytesTest, OfResultsWithoutBlobsThereIsOneLookNotOneEachCook) {
  CommitBatch batch;
  for (int i = 0; i < 2'000; ++i) batch.results.push_back(SampleVerdict(fmt::format("{}", i)));
  ASSERT_TRUE(store_->Commit(batch).ok());
  Cancellation cancelled;
  cancelled.Cancel();
  const auto look = [&] {
    return dynamic_cast<DeadBytes&>(*store_).GiveBackDeadBytes(&cancelled).status();
  };
  EXPECT_TRUE(absl::IsCancelled(look()));
  GiveBack();
  ASSERT_TRUE(store_->Commit({.results = {SampleVerdict("one more")}}).ok());
  EXPECT_TRUE(look().ok()) << "next to nothing changed";
}

// A log of more than 4 MiB is judged by a sample of its records, before it is read.
TEST_F(DeadBytesTest, ALongLogGoesWhenASampleOfItIsDeadAndStaysWhenItLives) {
  constexpr int kGroups = 24, kResults = 500;
  std::vector<Digest> keys;
  for (int group = 0; group < kGroups; ++group) {
    CommitBatch batch;
    for (int i = 0; i < kResults; ++i) {
      batch.results.push_back(SampleVerdict(fmt::format("{} of {}", i, group)));
      batch.results.back().observation_set += std::string(300, '.');
      keys.push_back(batch.results.back().action_key);
    }
    ASSERT_TRUE(store_->Commit(batch).ok());
  }
  ASSERT_GT(store_->Stats()->segment_bytes, 4u << 20);
  Pass();
  EXPECT_EQ(GiveBack().freed_bytes, 0u) << "all of it lives";
  ASSERT_TRUE(store_->Forget(std::span(keys).first(keys.size() * 9 / 10)).ok());
  for (int i = 0; i < 17; ++i) {  // their sets go once there are as many later sets
    CommitBatch batch;
    for (size_t key = 0; key < keys.size() * 9 / 10; key += 9)
      batch.sets.push_back(
          {Digest::Of(fmt::format("weak {} of {}", key % kResults, key / kResults)),
           fmt::format("{} of {}", i, key)});
    ASSERT_TRUE(store_->Commit(batch).ok());
  }
  Pass();
  const uint64_t before = store_->Stats()->segment_bytes;
  EXPECT_GT(GiveBack().freed_bytes, before / 4);
  for (size_t i = keys.size() * 9 / 10; i < keys.size(); i += 7)
    EXPECT_TRUE(ResultOf(*store_, keys[i]).has_value()) << i;
  CheckAll();
}

TEST_F(DeadBytesTest, AnInterruptEndsIt) {
  CookTwice(10);
  Cancellation cancellation;
  cancellation.Cancel();
  const auto report = dynamic_cast<DeadBytes&>(*store_).GiveBackDeadBytes(&cancellation);
  EXPECT_TRUE(absl::IsCancelled(report.status()));
  CheckAll();
}

}  // namespace
}  // namespace galley::store
