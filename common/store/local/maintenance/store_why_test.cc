// Why: each reason for which a blob is kept, and the answer for a blob that is gone.
#include <filesystem>
#include <fstream>
#include <optional>

#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "common/tree/tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StoreWhyTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    auto store = OpenLocalStore(directory_, {.boot_time = [this] { return BootTime() + later_; },
                                             .now = [this] { return absl::Now() + later_; },
                                             .sync = [](int) { return 0; }});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  WhyReport Why(const Digest& digest, size_t limit = 20) {
    const auto report = store_->Why(digest, limit);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(WhyReport());
  }
  // Publishes a root with the file at Game/<path>.
  Digest Publish(const std::string& name, const Digest& file, bool by_the_book = true,
                 uint32_t keep_roots = 0) {
    tree::Directory folder, root;
    folder.files.push_back({.name = name, .digest = file});
    root.directories.push_back(
        {.name = "Game", .digest = PutBytes(*store_, tree::EncodeDirectory(folder))});
    const Digest digest = PutBytes(*store_, tree::EncodeDirectory(root));
    PublishedRoot published = SampleRoot("windows", digest);
    published.by_the_book = by_the_book;
    published.keep_roots = keep_roots;
    EXPECT_TRUE(store_->Publish(published).ok());
    return digest;
  }

  void Rot(const BlobLocation& at) {
    const std::string path = SegmentPath(directory_, at.segment);
    std::string bytes = *ReadFile(path);
    char& byte = bytes[at.offset + kRecordHeaderBytes];
    byte = static_cast<char>(byte ^ 1);
    // Written in place: the owner has the file open.
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
  }
  void RotRecord(RecordKind kind, const Digest& key) {
    std::optional<BlobLocation> found;
    const auto segments = ListSegments(directory_);
    ASSERT_TRUE(segments.ok());
    for (const SegmentListing& segment : *segments) {
      const auto look = [&](uint64_t offset, const RecordHeader& header, std::string_view) {
        if (header.kind == kind && header.key == key)
          found = BlobLocation{.segment = segment.number, .offset = offset};
        return absl::OkStatus();
      };
      ASSERT_TRUE(ScanSegment(directory_, segment.number, kSegmentHeaderBytes, look).ok());
    }
    ASSERT_TRUE(found.has_value());
    Rot(*found);
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  absl::Duration later_;
  std::unique_ptr<StoreDirectory> store_;
};

TEST_F(StoreWhyTest, NamesTheRootsAndItsPathInThem) {
  const Digest output = PutBytes(*store_, "output"), other = PutBytes(*store_, "other");
  Publish("a.bin", output, true, 1);
  Publish("b.bin", other, true, 1);
  const Digest last = Publish("c.bin", output, true, 1);
  const WhyReport report = Why(output);
  ASSERT_THAT(report.roots, SizeIs(2));
  EXPECT_EQ(report.roots[0].root.root, last);
  EXPECT_EQ(report.roots[0].path, "Game/c.bin");
  EXPECT_TRUE(report.roots[0].is_kept);
  EXPECT_EQ(report.roots[1].path, "Game/a.bin");
  EXPECT_EQ(report.roots[1].root.sequence, 1u);
  EXPECT_FALSE(report.roots[1].is_kept) << "one is kept";
  EXPECT_THAT(Why(last).roots, SizeIs(1));
  EXPECT_EQ(Why(last).roots[0].path, "") << "itself";
}

// Every platform counts its own roots.
TEST_F(StoreWhyTest, WhichRootIsKeptIsSaidForEachPlatform) {
  const Digest output = PutBytes(*store_, "output"), other = PutBytes(*store_, "other");
  PublishedRoot root = SampleRoot("windows", Publish("a.bin", output, true, 1));
  Publish("b.bin", other, true, 1);
  root.platform = "android";
  ASSERT_TRUE(store_->Publish(root).ok());
  const WhyReport report = Why(output);
  ASSERT_THAT(report.roots, SizeIs(2));
  for (const auto& one : report.roots) {
    EXPECT_EQ(one.root.sequence, 1u);
    EXPECT_EQ(one.is_kept, one.root.platform == "android") << one.root.platform;
  }
}

TEST_F(StoreWhyTest, WhatCannotBeReadKeepsNothingFromBeingSaid) {
  const Digest output = PutBytes(*store_, "output");
  const Digest rotten = Publish("a.bin", output), whole = Publish("b.bin", output);
  for (const char* key : {"rotten result", "whole result"})
    ASSERT_TRUE(store_->Commit({.results = {SampleResult(key, output)}}).ok());
  Rot(**store_->Locate(std::span(&rotten, 1))->begin());
  RotRecord(RecordKind::kResult, Digest::Of("rotten result"));
  const WhyReport report = Why(output);
  ASSERT_THAT(report.roots, SizeIs(1));
  EXPECT_EQ(report.roots[0].root.root, whole);
  ASSERT_THAT(report.results, SizeIs(1));
  EXPECT_EQ(report.results[0].key, Digest::Of("whole result"));
}

TEST_F(StoreWhyTest, NamesTheResultsThatNameIt) {
  const Digest output = PutBytes(*store_, "output");
  PutResult put = SampleResult("a", output);
  record::Result result = *record::DecodeResult(put.result);
  result.provenance = {.worker = "local-1", .machine = "forge", .identity = "copy 1"};
  put.result = record::EncodeResult(result);
  ASSERT_TRUE(store_->Commit({.results = {put}}).ok());
  ASSERT_TRUE(CommitActionResult(*store_, "team/a", Digest::Of("action"),
                                 SampleActionResult({{"out", output}}))
                  .ok());
  const WhyReport report = Why(output);
  EXPECT_THAT(report.roots, IsEmpty());
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].key, put.action_key);
  EXPECT_TRUE(report.results[0].is_ours);
  EXPECT_THAT(report.results[0].provenance, HasSubstr("cooked by local-1 on forge (copy 1)"));
  EXPECT_GT(report.results[0].written, absl::Now() - absl::Hours(1));
  EXPECT_EQ(report.results[0].used, absl::InfinitePast());
  EXPECT_FALSE(report.results[1].is_ours);
  EXPECT_THAT(report.results[1].provenance,
              HasSubstr(fmt::format("written by a test for action {} of instance team/a",
                                    Digest::Of("action").ToString())));
  EXPECT_TRUE(ResultOf(*store_, put.action_key).has_value());
  PutBytes(*store_, "something");
  ASSERT_TRUE(store_->Commit({}).ok());  // the commit writes the use down
  EXPECT_GT(Why(output).results[0].used, absl::Now() - absl::Hours(2));
}

TEST_F(StoreWhyTest, SaysWhereItLiesAndSinceWhen) {
  const Digest small = PutBytes(*store_, "small"), large = PutBytes(*store_, LargeBytes('l'));
  ASSERT_TRUE(store_->Commit({}).ok());
  EXPECT_EQ(Why(small).location, (BlobLocation{.segment = 1, .offset = kSegmentHeaderBytes}));
  EXPECT_EQ(Why(large).location, BlobLocation{});
  for (const Digest& digest : {small, large}) {
    EXPECT_GT(Why(digest).written, absl::Now() - absl::Hours(1));
    EXPECT_LT(Why(digest).written, absl::Now() + absl::Hours(1));
  }
}

TEST_F(StoreWhyTest, ListsAtMostSoManyAndCountsTheRest) {
  const Digest output = PutBytes(*store_, "output");
  for (int i = 0; i < 5; ++i) {
    Publish(fmt::format("{}", i), output);
    ASSERT_TRUE(store_->Commit({.results = {SampleResult(fmt::format("{}", i), output)}}).ok());
  }
  const WhyReport report = Why(output, 2);
  EXPECT_THAT(report.roots, SizeIs(2));
  EXPECT_EQ(report.roots_more, 3u);
  EXPECT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results_more, 3u);
}

TEST_F(StoreWhyTest, NamesTheSessionsThatItIsHeldFor) {
  const Digest output = PutBytes(*store_, "output"), other = PutBytes(*store_, "other");
  ASSERT_TRUE(store_->Commit({}).ok());
  later_ += absl::Hours(2);
  std::optional<Session> session(*Session::Begin(directory_, "cook"));
  later_ = absl::ZeroDuration();  // sessions know only the real time
  EXPECT_THAT(*store_->FindMissing(std::span(&output, 1)), IsEmpty());
  EXPECT_THAT(Why(output).sessions, ElementsAre(HasSubstr("cook (process ")));
  Open();
  EXPECT_THAT(Why(other).sessions, ElementsAre(HasSubstr("nobody knows")));
  session.reset();
  EXPECT_THAT(Why(output).sessions, IsEmpty());
}

TEST_F(StoreWhyTest, AskingKeepsNeitherItNorWhatIsReadForThat) {
  const Digest output = PutBytes(*store_, "output"), other = PutBytes(*store_, "other");
  Publish("a.bin", output, true, 1);
  Publish("b.bin", other, true, 1);
  const auto session = Session::Begin(directory_, "cook");
  later_ += absl::Hours(25);
  Why(output);
  EXPECT_EQ(store_->Collect({.bytes_max = 0})->dropped_blobs, 3u) << "with the two folders";
}

TEST_F(StoreWhyTest, OfOneThatIsGoneItSaysWhatBecameOfIt) {
  const Digest dropped = PutBytes(*store_, "dropped"), wrong = PutBytes(*store_, LargeBytes('w'));
  ASSERT_TRUE(store_->Commit({}).ok());
  MakeWritable(BlobFilePath(directory_, wrong));
  ASSERT_TRUE(WriteFileAtomic(BlobFilePath(directory_, wrong), LargeBytes('v')).ok());
  EXPECT_TRUE(absl::IsDataLoss(store_->Get(wrong).status()));
  later_ += absl::Hours(25);
  EXPECT_EQ(store_->Collect({.bytes_max = 0})->dropped_blobs, 1u);
  const WhyReport of_dropped = Why(dropped);
  EXPECT_FALSE(of_dropped.location.has_value());
  EXPECT_THAT(of_dropped.past, ElementsAre(HasSubstr("dropped in loss epoch 2")));
  EXPECT_THAT(Why(wrong).past, testing::Contains(HasSubstr("its bytes were wrong: ")));
  EXPECT_THAT(Why(Digest::Of("never there")).past, IsEmpty());
}

// Why also tells of a blob that was deleted behind the store's back, before any reader notices.
TEST_F(StoreWhyTest, WhatNoReaderWouldGetIsNotThere) {
  const Digest large = PutBytes(*store_, LargeBytes('l')), small = PutBytes(*store_, "small");
  Publish("large.bin", large);
  ASSERT_TRUE(store_->Commit({}).ok());
  EXPECT_TRUE(Why(large).location.has_value());
  EXPECT_TRUE(Why(small).location.has_value());
  std::filesystem::remove(BlobFilePath(directory_, large));
  Rot(**store_->Locate(std::span(&small, 1))->begin());
  const WhyReport report = Why(large);
  EXPECT_FALSE(report.location.has_value());
  EXPECT_THAT(report.past, ElementsAre(HasSubstr("not noticed yet: ")));
  EXPECT_THAT(report.roots, SizeIs(1)) << "which miss it";
  EXPECT_FALSE(Why(small).location.has_value());
}

}  // namespace
}  // namespace galley::store
