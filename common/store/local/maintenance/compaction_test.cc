// Tests of collections over segments with few live bytes.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "common/store/local/layout.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

class CompactionTest : public GcTest {
 protected:
  void SetUp() override {
    segment_bytes_max_ = 12'000;
    GcTest::SetUp();
  }
  size_t Segments() { return ListSegments(directory_)->size(); }
  uint64_t SegmentOf(const Digest& digest) {
    return store_->Locate(std::span(&digest, 1))->front()->segment;
  }
  void OpenWithoutIndex() {
    store_.reset();
    fs::remove_all(JoinPath(directory_, "index"));
    Open();
  }
  // Cooks many results, few of which a kept root needs.
  void CookMany() {
    for (int i = 0; i < 20; ++i) {
      const Digest output = Cook(fmt::format("{}", i), 3000);
      (i % 8 == 0 ? kept_ : gone_).push_back(output);
    }
    Publish("windows", kept_);
    Pass();
  }
  void CheckMany() {
    for (const Digest& digest : kept_) EXPECT_TRUE(store_->Get(digest).ok());
    EXPECT_THAT(*store_->FindMissing(gone_), UnorderedElementsAreArray(gone_));
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(ResultOf(*store_, Digest::Of(fmt::format("{}", i))).has_value(), i % 8 == 0) << i;
    EXPECT_THAT(*store_->Roots("project"), SizeIs(1));
    EXPECT_THAT(store_->Verify()->problems, IsEmpty());
  }

  std::vector<Digest> kept_, gone_;
  const Digest weak_key_ = Digest::Of("weak");
};

TEST_F(CompactionTest, TheLogsBeginGoesAndWhatWasLiveInItLiesBehind) {
  ASSERT_TRUE(store_->Commit({.sets = {{Digest::Of("weak"), "first"}}}).ok());
  ASSERT_TRUE(store_->Commit({.sets = {{Digest::Of("weak"), "second"}}}).ok());
  const auto action = Digest::Of("action");
  CookMany();
  ASSERT_TRUE(
      CommitActionResult(*store_, "team", action, SampleActionResult({{"out", kept_[0]}})).ok());
  const size_t before = Segments();
  const GcReport report = Collect(kAll);
  EXPECT_GT(report.freed_bytes, 16'000u);
  EXPECT_LT(report.moved_bytes, report.freed_bytes / 2);
  EXPECT_LT(Segments(), before / 2);
  EXPECT_FALSE(FileExists(SegmentPath(directory_, 1)));
  for (const char* index : {"as it was", "opened again", "made again"}) {
    SCOPED_TRACE(index);
    CheckMany();
    EXPECT_THAT(store_->ObservationSets({{Digest::Of("weak")}})->front(),
                ElementsAre("second", "first"));
    EXPECT_TRUE(ActionResultOf(*store_, "team", action).has_value());
    if (index[0] == 'o') OpenWithoutIndex();
    if (index[0] == 'a') Open();
  }
}

TEST_F(CompactionTest, WhatIsMostlyLiveStays) {
  std::vector<Digest> outputs;
  for (int i = 0; i < 20; ++i) outputs.push_back(Cook(fmt::format("{}", i)));
  Publish("windows", outputs);
  Pass();
  Cook("goes");
  Pass();
  const size_t before = Segments();
  const GcReport report = Collect(kAll);
  EXPECT_EQ(report.dropped_results, 1u);
  EXPECT_EQ(report.moved_bytes, 0u);
  EXPECT_GE(Segments(), before);
}

// A session that was told the place of a blob may read the blob there.
TEST_F(CompactionTest, ASegmentStaysWhileASessionLivesThatKnowsIt) {
  CookMany();
  boot_ = BootTime();
  Open();  // has told nothing yet
  std::optional<Session> session(*Session::Begin(directory_, "cook"));
  boot_ = BootTime() + absl::Milliseconds(1);
  const Digest known = kept_[0];
  const BlobLocation location = *store_->Locate(std::span(&known, 1))->front();
  const GcReport report = Collect(kAll);
  EXPECT_EQ(report.freed_bytes, 0u);
  EXPECT_GT(report.moved_bytes, 0u);
  EXPECT_TRUE(ReadBlobAt(directory_, known, location).ok());
  EXPECT_NE(SegmentOf(known), location.segment);
  // A session that began later may not.
  session.reset();
  boot_ = BootTime() + absl::Milliseconds(2);
  while (BootTime() <= boot_) std::this_thread::yield();  // sessions know only the real time
  session.emplace(*Session::Begin(directory_, "cook"));
  EXPECT_GT(Collect(kAll).freed_bytes, 0u);
  EXPECT_FALSE(FileExists(SegmentPath(directory_, location.segment)));
  CheckMany();
}

TEST_F(CompactionTest, OfWorkersThoseUnderHalfGoAndSmallOnes) {
  const auto write = [&](const char* name, int blobs, int kept, size_t size) {
    const uint64_t segment = *store_->AllocateSegment();
    const auto writer = *SegmentWriter::Open(directory_, segment);
    std::vector<Digest> files;
    for (int i = 0; i < blobs; ++i) {
      const auto written = *writer->Append(std::string(size, 'w') + fmt::format("{}{}", name, i));
      const auto result = SampleResult(fmt::format("{}{}", name, i), written.first);
      EXPECT_TRUE(store_->Commit({.blobs = {written}, .results = {result}}).ok());
      if (i < kept) files.push_back(written.first);
    }
    Publish(name, files);
    return segment;
  };
  const uint64_t mostly = write("mostly", 6, 5, 900'000), little = write("little", 6, 2, 900'000),
                 small = write("small", 2, 2, 1'000);
  static_cast<void>(*store_->AllocateSegment());  // the newest segment stays
  Pass();
  EXPECT_EQ(Collect(kAll).dropped_results, 5u);
  EXPECT_TRUE(FileExists(SegmentPath(directory_, mostly)));
  EXPECT_FALSE(FileExists(SegmentPath(directory_, little)));
  EXPECT_FALSE(FileExists(SegmentPath(directory_, small)));
  for (const bool is_new : {false, true}) {
    if (is_new) OpenWithoutIndex();
    EXPECT_EQ(store_->Stats()->results, 9u);
    EXPECT_TRUE(ResultOf(*store_, Digest::Of("little1")).has_value());
    EXPECT_TRUE(ResultOf(*store_, Digest::Of("small0")).has_value());
    EXPECT_THAT(store_->Verify()->problems, IsEmpty());
  }
}

// The collection is cut off anywhere, and the power or the index is lost with it.
TEST_F(CompactionTest, CutOffAnywhereItHasLostNothing) {
  CookMany();
  std::vector<std::string> copies;
  on_sync_ = [&] {
    copies.push_back(folder_.In(fmt::format("cut{}", copies.size())));
    Copy(copies.back());
    return 0;
  };
  Collect(kAll);
  on_sync_ = nullptr;
  ASSERT_GT(copies.size(), 3u);
  for (const std::string& copy : copies) {
    for (const bool with_index : {true, false}) {
      SCOPED_TRACE(copy);
      if (!with_index) fs::remove_all(JoinPath(copy, "index"));
      const auto store = *OpenLocalStore(copy, {.sync = [](int) { return 0; }});
      for (const Digest& digest : kept_) EXPECT_TRUE(store->Get(digest).ok());
      EXPECT_TRUE(ResultOf(*store, Digest::Of("8")).has_value());
      EXPECT_THAT(*store->Roots("project"), SizeIs(1));
    }
  }
}

// The index said that the segments go, and then the power went.
TEST_F(CompactionTest, SegmentsThatWereToGoAreNotReadAgain) {
  Cook("0");
  const Digest key = Digest::Of("0");
  ASSERT_TRUE(store_->Forget(std::span(&key, 1)).ok());
  CookMany();
  fs::copy(JoinPath(directory_, "segments"), folder_.In("segments"));
  const uint64_t begin = ListSegments(directory_)->front().number;
  const size_t before = Segments();
  ASSERT_GT(Collect(kAll).freed_bytes, 0u);
  const std::string cut = folder_.In("cut");
  Copy(cut);
  fs::copy(folder_.In("segments"), JoinPath(cut, "segments"),
           fs::copy_options::recursive | fs::copy_options::skip_existing);
  ASSERT_GE(ListSegments(cut)->size(), before);
  const auto store = *OpenLocalStore(cut, {.sync = [](int) { return 0; }});
  EXPECT_FALSE(FileExists(SegmentPath(cut, begin)));
  EXPECT_EQ(*store->FindMissing(gone_), gone_);
  EXPECT_EQ(store->Info()->loss_epoch, Epoch()) << "nothing is lost";
  for (const Digest& digest : kept_) EXPECT_TRUE(store->Get(digest).ok());
}

TEST_F(CompactionTest, WrongBytesAreNotMovedButQuarantined) {
  CookMany();
  const BlobLocation location = *store_->Locate(std::span(&kept_[0], 1))->front();
  {
    std::fstream file(SegmentPath(directory_, location.segment),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(location.offset + kRecordHeaderBytes + 100));
    file << "X";
  }
  Pass();
  Collect(kAll);
  EXPECT_EQ(store_->Stats()->quarantined, 1u);
  EXPECT_THAT(*store_->FindMissing(kept_), ElementsAre(kept_[0]));
}

// Results with wrong bytes are cooked again: nothing of them must be kept for a look.
TEST_F(CompactionTest, ResultsWithWrongBytesAreDropped) {
  CookMany();
  const auto segments = *ListSegments(directory_);
  for (const SegmentListing& segment : segments) {
    std::string bytes = *ReadFile(SegmentPath(directory_, segment.number), 1 << 20);
    // In the payload, behind the header.
    for (size_t at = 64; at + kRecordHeaderBytes < bytes.size();) {
      const auto header =
          DecodeRecordHeader(std::string_view(bytes).substr(at), segment.number, at);
      if (!header.ok()) break;
      if (header->kind == RecordKind::kResult && header->key == Digest::Of("0"))
        bytes[at + kRecordHeaderBytes + 5] ^= 1;
      at += RecordSpan(header->payload_bytes);
    }
    std::ofstream(SegmentPath(directory_, segment.number), std::ios::binary) << bytes;
  }
  EXPECT_GT(Collect(kAll).freed_bytes, 0u);
  Open();
  EXPECT_EQ(store_->Info()->loss_epoch, Epoch());
  EXPECT_FALSE(ResultOf(*store_, Digest::Of("0")).has_value());
  for (const Digest& digest : kept_) EXPECT_TRUE(store_->Get(digest).ok());
  EXPECT_THAT(store_->Verify()->problems, IsEmpty());
}

TEST_F(CompactionTest, TheNumberOfCommitsRisesAllTheSame) {
  CookMany();
  uint64_t commits = store_->Info()->commits;
  ASSERT_GT(Collect(kAll).freed_bytes, 0u);
  EXPECT_GT(store_->Info()->commits, commits);
  commits = store_->Info()->commits;
  Open();
  EXPECT_EQ(store_->Info()->commits, commits);
  Cook("more");
  EXPECT_GT(store_->Info()->commits, commits);
}

// A blob is moved between the look and the reading.
TEST_F(CompactionTest, WhatMovesWhileItIsReadIsReadWhereItLiesNow) {
  CookMany();
  bool is_first = true;
  on_now_ = [&] {
    if (std::exchange(is_first, false)) {
      EXPECT_GT(Collect(kAll).freed_bytes, 0u);
    }
  };
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("0")).has_value());
  EXPECT_FALSE(is_first);
  on_now_ = nullptr;
}

TEST_F(CompactionTest, WhatMovesIsAsOldAsItWas) {
  std::vector<Digest> outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(Cook(fmt::format("of age {}", i), 3000));
  CookMany();
  Use("of age 1");
  Pass();
  const uint64_t before = SegmentOf(outputs[1]);
  Pass();
  const auto has = [&](size_t i) { return Has(outputs[i]); };
  ASSERT_GT(Collect({.bytes_max = 14'000}).moved_bytes, 0u);
  EXPECT_TRUE(!has(0) && has(1)) << "used last";
  Collect({.age_max = absl::Hours(6)});
  EXPECT_TRUE(has(1));
  EXPECT_NE(SegmentOf(outputs[1]), before);
  Pass(absl::Hours(6));
  Collect({.age_max = absl::Hours(6)});
  EXPECT_FALSE(has(1));
}

// The segment goes soon.
TEST_F(CompactionTest, WhatIsReportedToLieInASegmentThatWasLeftIsCopied) {
  const uint64_t segment = *store_->AllocateSegment();
  std::pair<Digest, BlobLocation> written;
  {
    const auto writer = *SegmentWriter::Open(directory_, segment);
    written = *writer->Append("late");
    const auto other = *writer->Append("other");
    ASSERT_TRUE(
        store_->Commit({.blobs = {other}, .results = {SampleResult("other", other.first)}}).ok());
    Publish("windows", {other.first});
  }
  static_cast<void>(*store_->AllocateSegment());
  Pass();
  boot_ = BootTime();
  fs::last_write_time(SegmentPath(directory_, segment),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  Open();
  const Session session = *Session::Begin(directory_, "cook");
  boot_ = BootTime() + absl::Milliseconds(1);
  ASSERT_GT(Collect(kAll).moved_bytes, 0u);
  ASSERT_TRUE(FileExists(SegmentPath(directory_, segment)));
  ASSERT_TRUE(store_->Commit({.blobs = {written}}).ok());
  EXPECT_NE(SegmentOf(written.first), segment);
}

// An earlier owner told a worker the place, and the worker reports it only now.
TEST_F(CompactionTest, WhatIsReportedToLieInALogSegmentThatWasLeftIsCopied) {
  CookMany();
  const Digest late = gone_[0];
  const BlobLocation told = *store_->Locate(std::span(&late, 1))->front();
  ASSERT_EQ(told.segment, ListSegments(directory_)->front().number);
  boot_ = BootTime();
  Open();
  std::optional<Session> session(*Session::Begin(directory_, "cook"));
  boot_ = BootTime() + absl::Milliseconds(1);
  ASSERT_GT(Collect(kAll).moved_bytes, 0u);
  ASSERT_THAT(*store_->FindMissing(gone_), UnorderedElementsAreArray(gone_));
  ASSERT_TRUE(ReadBlobAt(directory_, late, told).ok());
  ASSERT_TRUE(
      store_->Commit({.blobs = {{late, told}}, .results = {SampleResult("late", late)}}).ok());
  EXPECT_NE(SegmentOf(late), told.segment);
  session.reset();
  boot_ = BootTime() + absl::Milliseconds(2);
  ASSERT_GT(Collect({}).freed_bytes, 0u);
  EXPECT_FALSE(FileExists(SegmentPath(directory_, told.segment)));
  EXPECT_TRUE(store_->Get(late).ok());
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("late")).has_value());
}

// A dry run foretells what then happens, whatever goes: the log's begin, a worker's segment with
// the highest number, results and sets.
TEST_F(CompactionTest, ADryRunSaysWhatTheCollectionThenDoes) {
  for (const bool is_worker_last : {false, true}) {
    SCOPED_TRACE(is_worker_last);
    CookMany();
    if (is_worker_last) {
      const auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
      for (const char* name : {"stays", "goes"}) {
        const auto written = *writer->Append(std::string(50'000, name[0]));
        const PutResult result = SampleResult(name, written.first);
        ASSERT_TRUE(store_->Commit({.blobs = {written}, .results = {result}}).ok());
        kept_.push_back(written.first);
      }
      kept_.pop_back();
      Publish("windows", kept_);
    }
    Pass();
    const GcReport told = Collect({.bytes_max = 0, .is_dry = true});
    EXPECT_GT(told.freed_bytes, 0u);
    EXPECT_GT(told.moved_bytes, 0u);
    const uint64_t before = store_->Stats()->segment_bytes;
    EXPECT_EQ(store_->Stats()->segment_bytes, before) << "nothing was done";
    const GcReport done = Collect(kAll);
    EXPECT_EQ(done.dropped_blobs, told.dropped_blobs);
    EXPECT_EQ(done.dropped_bytes, told.dropped_bytes);
    EXPECT_EQ(done.dropped_results, told.dropped_results);
    EXPECT_EQ(done.blobs, told.blobs);
    EXPECT_EQ(done.bytes, told.bytes);
    EXPECT_EQ(done.results, told.results);
    EXPECT_EQ(done.freed_bytes, told.freed_bytes);
    EXPECT_EQ(done.moved_bytes, told.moved_bytes);
    for (const Digest& digest : kept_) EXPECT_TRUE(store_->Get(digest).ok());
    EXPECT_THAT(store_->Verify()->problems, IsEmpty());
  }
}

TEST_F(CompactionTest, ADryRunKnowsOfASessionThatHoldsSegments) {
  CookMany();
  boot_ = BootTime();
  Open();
  const Session session = *Session::Begin(directory_, "cook");
  boot_ = BootTime() + absl::Milliseconds(1);
  const GcReport told = Collect({.bytes_max = 0, .is_dry = true});
  EXPECT_EQ(told.freed_bytes, 0u);
  EXPECT_GT(told.moved_bytes, 0u);
  EXPECT_EQ(Collect(kAll).moved_bytes, told.moved_bytes);
}

TEST_F(CompactionTest, OneAfterTheOtherLosesNothing) {
  CookMany();
  ASSERT_TRUE(store_->Commit({.sets = {{weak_key_, "set"}}}).ok());
  Collect(kAll);
  Collect(kAll);
  CheckMany();
  EXPECT_THAT(store_->ObservationSets({{weak_key_}})->front(), ElementsAre("set"));
}

}  // namespace
}  // namespace galley::store
