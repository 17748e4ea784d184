// Verify of a store on the disk: it continues an interrupted run, keeps to a rate, blocks no other
// call, and salvages blobs that only the log lost.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/base/repairs.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_file.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override { Open(directory_); }
  void Open(const std::string& directory) {
    store_.reset();
    LocalStoreOptions options = options_;
    // A second passes at each look at the clock, so that Verify tells its progress each time.
    options.boot_time = [this] { return boot_ += absl::Seconds(1); };
    options.now = [this] { return now_; };
    options.pause = [this](absl::Duration time) { paused_ += time; };
    options.sync = [](int) { return 0; };
    auto store = OpenLocalStore(directory, options);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // Puts blobs, and returns them in the order in which they are read.
  std::vector<Digest> PutMany(int count) {
    std::vector<Digest> digests;
    for (int i = 0; i < count; ++i)
      digests.push_back(PutBytes(*store_, fmt::format("blob number {}", i)));
    EXPECT_TRUE(store_->Commit({}).ok());
    std::sort(digests.begin(), digests.end());
    return digests;
  }
  static void Flip(const std::string& path, uint64_t offset) {
    MakeWritable(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 1));
  }
  void Rot(const Digest& digest) {
    const BlobLocation at = **store_->Locate(std::span(&digest, 1))->begin();
    if (at.segment == 0) {
      Flip(BlobFilePath(directory_, digest), 5);
    } else {
      Flip(SegmentPath(directory_, at.segment), at.offset + kRecordHeaderBytes);
    }
  }
  static void RotText(const std::string& path, std::string_view text) {
    const std::string bytes = *ReadFile(path);
    const size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    Flip(path, at);
  }
  VerifyReport Verify(const VerifyOptions& options = {}) {
    const auto report = store_->Verify(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(VerifyReport());
  }
  bool Has(const Digest& digest) { return store_->FindMissing(std::span(&digest, 1))->empty(); }
  // Verifies, and stops when `blobs` blobs were read.
  void VerifyUntil(uint64_t blobs) {
    const auto stop = [&](const VerifyProgress& progress) { return progress.blobs < blobs; };
    EXPECT_TRUE(absl::IsAborted(store_->Verify({.on_progress = stop}).status()));
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  LocalStoreOptions options_;
  absl::Time boot_ = BootTime(), now_ = absl::Now();
  absl::Duration paused_;
  std::unique_ptr<StoreDirectory> store_;
};

TEST_F(VerifyTest, GoesOnWhereItWasStopped) {
  const std::vector<Digest> digests = PutMany(700);
  VerifyUntil(300);
  Rot(digests[10]);
  Rot(digests[600]);
  VerifyReport report = Verify();
  EXPECT_EQ(report.resumed, absl::FromUnixSeconds(absl::ToUnixSeconds(now_)));
  EXPECT_EQ(report.blobs, 700u);
  EXPECT_THAT(report.problems, Contains(HasSubstr(digests[600].hex())));
  EXPECT_FALSE(Has(digests[600]));
  EXPECT_TRUE(Has(digests[10])) << "that was read before";
  report = Verify();  // from the beginning: the last run came to the end
  EXPECT_EQ(report.resumed, std::nullopt);
  EXPECT_THAT(report.problems, Contains(HasSubstr(digests[10].hex())));
  EXPECT_THAT(Verify().problems, IsEmpty());
}

TEST_F(VerifyTest, GoesOnWhereItWasKilledAndTellsWhatWasFoundBefore) {
  const std::vector<Digest> digests = PutMany(700);
  Rot(digests[20]);
  // The copy is what a kill leaves.
  const std::string killed = folder_.In("killed");
  const auto kill = [&](const VerifyProgress& progress) {
    if (progress.blobs < 400) return true;
    fs::copy(directory_, killed, fs::copy_options::recursive);
    return false;
  };
  EXPECT_TRUE(absl::IsAborted(store_->Verify({.on_progress = kill}).status()));
  Open(killed);
  bool is_first = true;
  const VerifyReport report = Verify({.on_progress = [&](const VerifyProgress& progress) {
    EXPECT_TRUE(progress.blobs > 256 || !is_first);
    is_first = false;
    return true;
  }});
  EXPECT_TRUE(report.resumed.has_value());
  EXPECT_EQ(report.blobs, 700u);
  EXPECT_THAT(report.problems, Contains(HasSubstr(digests[20].hex())));
}

TEST_F(VerifyTest, BeginsAnewWhenItIsToldToOrWhatIsLeftIsOldOrWrong) {
  PutMany(700);
  VerifyUntil(300);
  EXPECT_EQ(Verify({.restart = true}).resumed, std::nullopt);
  VerifyUntil(300);
  now_ += absl::Hours(24) * 31;
  EXPECT_EQ(Verify().resumed, std::nullopt);
  VerifyUntil(300);
  Flip(JoinPath(directory_, "verify"), 20);
  EXPECT_EQ(Verify().resumed, std::nullopt);
}

TEST_F(VerifyTest, KeepsToItsRate) {
  PutMany(700);
  const Digest large = PutBytes(*store_, LargeBytes('l', 20'000'000));
  ASSERT_TRUE(store_->Commit({}).ok());
  Verify();
  EXPECT_EQ(paused_, absl::ZeroDuration());
  // The clock advances by a second at each look, which allows a hundred bytes.
  Verify({.bytes_per_second = 100});
  EXPECT_GT(paused_, absl::Seconds(20'000'000 / 100 * 0.9));
  EXPECT_LT(paused_, absl::Seconds(20'000'000 / 100 * 1.1));
  EXPECT_TRUE(Has(large));
}

TEST_F(VerifyTest, HoldsUpNoCommitWhateverItReads) {
  PutMany(10);
  const Digest output = PutBytes(*store_, "output"), large = PutBytes(*store_, LargeBytes('l'));
  ASSERT_TRUE(store_->Commit({.results = {SampleResult("a", output)}}).ok());
  ASSERT_TRUE(
      CommitActionResult(*store_, "", Digest::Of("b"), SampleActionResult({{"o", output}})).ok());
  ASSERT_TRUE(store_->Publish(SampleRoot("windows", large)).ok());
  std::set<std::string> phases;
  int commits = 0;
  const VerifyReport report = Verify({.on_progress = [&](const VerifyProgress& progress) {
    phases.insert(progress.phase);
    PutBytes(*store_, fmt::format("while it reads {}", commits));
    // Blobs that are written meanwhile may be read, too: the loop needs some end.
    EXPECT_TRUE(++commits > 200 || store_->Commit({}).ok());
    return true;
  }});
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(phases,
              UnorderedElementsAre("blobs", "results", "other programs' results",
                                   "observation sets", "roots", "segments", "what is missing"));
}

TEST_F(VerifyTest, WhatWasMadeAgainSinceItWasReadStays) {
  std::vector<Digest> digests;
  for (const char fill : {'a', 'b', 'c', 'd'})
    digests.push_back(PutBytes(*store_, LargeBytes(fill)));
  ASSERT_TRUE(store_->Commit({}).ok());
  const Digest first = *std::min_element(digests.begin(), digests.end());
  const std::string bytes = GetBytes(*store_, first);
  Rot(first);
  bool is_again = false;
  const VerifyReport report = Verify({.on_progress = [&](const VerifyProgress& progress) {
    if (progress.blobs == 0 || std::exchange(is_again, true)) return true;
    EXPECT_TRUE(absl::IsDataLoss(store_->Get(first).status()));
    EXPECT_TRUE(store_->Put(first, bytes).ok() && store_->Commit({}).ok());
    return true;
  }});
  EXPECT_TRUE(is_again);
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(GetBytes(*store_, first), bytes);
}

// No checksum covers the bytes that fill a record up.
TEST_F(VerifyTest, FindsWhatIsWrongBetweenRecords) {
  const Digest digest = PutBytes(*store_, "hello");
  ASSERT_TRUE(store_->Commit({}).ok());
  Flip(SegmentPath(directory_, 1), kSegmentHeaderBytes + kRecordHeaderBytes + 5);
  EXPECT_THAT(Verify().problems, ElementsAre(HasSubstr("offset 149: 3 bytes are wrong")));
  EXPECT_THAT(Verify().problems, IsEmpty());
  EXPECT_EQ(GetBytes(*store_, digest), "hello");
}

// At the end of a record nothing looks torn.
TEST_F(VerifyTest, TellsWhatIsGoneWithTheEndOfASegment) {
  const Digest stays = PutBytes(*store_, "stays"), goes = PutBytes(*store_, "goes"),
               again = PutBytes(*store_, "is put again");
  ASSERT_TRUE(store_->Commit({}).ok());
  const BlobLocation at = **store_->Locate(std::span(&goes, 1))->begin();
  ASSERT_NE(at.segment, 0u);
  store_.reset();
  fs::resize_file(SegmentPath(directory_, at.segment), at.offset);
  Open(directory_);
  EXPECT_EQ(PutBytes(*store_, "is put again"), again);
  EXPECT_THAT(Verify().problems, ElementsAre(AllOf(HasSubstr(goes.hex()), HasSubstr("is gone"))));
  EXPECT_TRUE(Has(stays) && Has(again));
  EXPECT_FALSE(Has(goes));
  EXPECT_THAT(Verify().problems, IsEmpty());
}

TEST_F(VerifyTest, OneRunsAtATime) {
  PutMany(1);
  absl::Status second;
  Verify({.on_progress = [&](const VerifyProgress&) {
    second = store_->Verify().status();
    return true;
  }});
  EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
  EXPECT_GE(paused_, absl::Seconds(5));
}

TEST_F(VerifyTest, TheOldestGoOutOfTheQuarantine) {
  options_.quarantine_bytes_max = 3'200'000;
  Open(directory_);
  std::vector<Digest> digests;
  for (const char fill : {'a', 'b', 'c'}) {
    digests.push_back(PutBytes(*store_, LargeBytes(fill)));
    ASSERT_TRUE(store_->Commit({}).ok());
    Rot(digests.back());
    EXPECT_TRUE(absl::IsDataLoss(store_->Get(digests.back()).status()));
  }
  EXPECT_EQ(store_->Stats()->quarantined, 2u);
  EXPECT_FALSE(FileExists(fmt::format("{}/{}-{}", QuarantineDirectory(directory_), digests[0].hex(),
                                      digests[0].size_bytes())));
}

TEST_F(VerifyTest, ADamagedIndexIsMadeAgainAndNoProblem) {
  PutMany(700);
  store_.reset();
  Open(directory_);  // now the index is in files
  for (const auto& entry : fs::directory_iterator(JoinPath(directory_, "index"))) {
    if (entry.path().extension() == ".sst") Flip(entry.path().string(), 100);
  }
  TakeRepairs();
  const VerifyReport report = Verify();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.blobs, 700u);
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("made again from segments and files")));
}

// Salvage: the log's record that took over a worker's blobs is lost with the index.
class SalvageTest : public VerifyTest {
 protected:
  void SetUp() override {
    VerifyTest::SetUp();
    auto writer = *SegmentWriter::Open(directory_, *store_->AllocateSegment());
    const auto small = *writer->Append("a small output"), large = *writer->Append(LargeBytes('L')),
               inner = *writer->Append("in a tree"), unneeded = *writer->Append("of no use");
    small_ = small.first, large_ = large.first, inner_ = inner.first, unneeded_ = unneeded.first;
    tree::Directory folder, root;
    folder.files.push_back({.name = "a", .digest = inner_});
    const auto folder_bytes = *writer->Append(tree::EncodeDirectory(folder));
    root.directories.push_back({.name = "Game", .digest = folder_bytes.first});
    root_ = PutBytes(*store_, tree::EncodeDirectory(root));
    ASSERT_TRUE(store_->Commit({.blobs = {small, large, inner, unneeded, folder_bytes}}).ok());
    ASSERT_TRUE(
        store_->Commit({.results = {SampleResult("a", small_), SampleResult("b", large_)}}).ok());
    ASSERT_TRUE(store_->Publish(SampleRoot("windows", root_)).ok());
    store_.reset();
    fs::remove_all(JoinPath(directory_, "index"));
    const auto segments = ListSegments(directory_);
    ASSERT_TRUE(segments.ok());
    for (const SegmentListing& segment : *segments) {
      std::vector<uint64_t> adopted;
      const auto note = [&](uint64_t offset, const RecordHeader& header, std::string_view) {
        if (header.kind == RecordKind::kAdopted) adopted.push_back(offset);
        return absl::OkStatus();
      };
      ASSERT_TRUE(ScanSegment(directory_, segment.number, kSegmentHeaderBytes, note).ok());
      for (const uint64_t offset : adopted)
        Flip(SegmentPath(directory_, segment.number), offset + kRecordHeaderBytes);
    }
    Open(directory_);
    EXPECT_FALSE(ResultOf(*store_, Digest::Of("a")).has_value());
    EXPECT_FALSE(ResultOf(*store_, Digest::Of("b")).has_value());
  }

  Digest small_, large_, inner_, unneeded_, root_;
};

TEST_F(SalvageTest, WhatResultsAndTreesNameIsKnownAgain) {
  const VerifyReport report = Verify();
  EXPECT_THAT(report.problems, Contains(HasSubstr(small_.hex())));
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("a")).has_value());
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("b")).has_value());
  EXPECT_TRUE(Has(inner_)) << "it is in a folder that was found";
  EXPECT_EQ(GetBytes(*store_, large_), LargeBytes('L'));
  EXPECT_FALSE(Has(unneeded_)) << "nothing names it: it may have been collected";
  EXPECT_THAT(Verify().problems, IsEmpty());
  store_.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  Open(directory_);
  EXPECT_EQ(GetBytes(*store_, small_), "a small output") << "the log says so";
  EXPECT_EQ(GetBytes(*store_, large_), LargeBytes('L'));
}

TEST_F(SalvageTest, WhatALeasedTreeNamesIsKnownAgain) {
  const Digest root = PutBytes(
      *store_, tree::EncodeLinkedDirectory({.files = {{.name = "file", .digest = unneeded_}},
                                            .links = {{.name = "link", .target = "file"}}}));
  ASSERT_TRUE(
      store_
          ->ChangeLeases(
              {.taken = {{.name = "session", .root = root, .until = now_ + absl::Hours(1)}}})
          .ok());
  EXPECT_THAT(Verify().problems, Contains(HasSubstr(unneeded_.hex())));
  EXPECT_TRUE(Has(unneeded_));
}

TEST_F(SalvageTest, WhatOtherProgramsResultsNameIsKnownAgain) {
  ASSERT_TRUE(
      CommitActionResult(*store_, "", Digest::Of("theirs"), SampleActionResult({{"o", unneeded_}}))
          .ok());
  EXPECT_THAT(Verify().problems, Contains(HasSubstr(unneeded_.hex())));
  EXPECT_TRUE(Has(unneeded_));
}

// A record whose checksums are right may still not be what its key says.
TEST_F(SalvageTest, WhatBearsAnothersNameIsSteppedOver) {
  const uint64_t number = *store_->AllocateSegment();
  ASSERT_TRUE((*SegmentFile::Open(directory_, number))
                  ->Append(RecordKind::kBlob, Digest::Of("nowhere"), "something else")
                  .ok());
  ASSERT_TRUE(CommitActionResult(*store_, "", Digest::Of("theirs"),
                                 SampleActionResult({{"o", Digest::Of("nowhere")}}))
                  .ok());
  EXPECT_THAT(Verify().problems, Not(IsEmpty()));
  EXPECT_FALSE(Has(Digest::Of("nowhere")));
  EXPECT_TRUE(Has(small_));
}

TEST_F(SalvageTest, WhatIsWrongIsNot) {
  Flip(BlobFilePath(directory_, large_), 7);
  RotText(SegmentPath(directory_, 1), "a small output");
  Verify();
  EXPECT_FALSE(Has(small_) || Has(large_));
  EXPECT_TRUE(Has(inner_));
}

}  // namespace
}  // namespace galley::store
