// Tests of what a collection drops, and what it never drops.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <random>

#include "common/store/local/layout.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(GcTest, WhatKeptTreesHoldStaysWithItsResults) {
  const Digest kept = Cook("kept"), large = Cook("large", 2'000'000), other = Cook("other");
  const Digest root = Publish("windows", {kept, large});
  Pass();
  const GcReport report = Collect(kAll);
  EXPECT_EQ(report.dropped_results, 1u);
  EXPECT_EQ(report.dropped_blobs, 1u);
  EXPECT_EQ(report.dropped_bytes, 1000u);
  EXPECT_EQ(report.results, 2u);
  EXPECT_EQ(report.blobs, 4u);  // two folders
  EXPECT_TRUE(Has(kept) && Has(large) && Has(root));
  EXPECT_FALSE(Has(other));
  EXPECT_EQ(Epoch(), 1u);
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("kept")).has_value());
  EXPECT_FALSE(ResultOf(*store_, Digest::Of("other")).has_value());
  EXPECT_THAT(store_->Verify()->problems, IsEmpty());
}

// A level that is split into cells: the cells are packages of the tree, but their sources are not
// in it.
TEST_F(GcTest, WhatKeptTreesHoldStaysWithWhatItGenerated) {
  const Digest output = Cook("level"), cell = PutBytes(*store_, "source of a cell");
  const auto generates = [&](std::string_view action, const Digest& made, const Digest& source) {
    PutResult put = SampleResult(action, made);
    record::Result result = record::DecodeResult(put.result).value();
    result.details.generated = {{"_gen/cell", source, "data", ""}};
    put.result = record::EncodeResult(result);
    EXPECT_TRUE(store_->Commit({.results = {put}}).ok());
  };
  generates("split", output, cell);
  const Digest other = Cook("other"), other_cell = PutBytes(*store_, "of another tree");
  generates("not kept", other, other_cell);
  Publish("windows", {output});
  Pass();
  Collect(kAll);
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("split")).has_value());
  EXPECT_TRUE(Has(cell));
  EXPECT_FALSE(ResultOf(*store_, Digest::Of("not kept")).has_value());
  EXPECT_FALSE(Has(other_cell));
}

// The main output of a level is always the same: not every result that it ever had is kept.
TEST_F(GcTest, OfWhatGeneratesTheLastOnesStay) {
  const Digest output = Cook("level");
  constexpr int kVersions = 70;
  for (int i = 0; i < kVersions; ++i) {
    PutResult put = SampleResult(fmt::format("version {}", i), output);
    record::Result result = record::DecodeResult(put.result).value();
    result.details.generated = {
        {"_gen/cell", PutBytes(*store_, fmt::format("cell {}", i)), "data", ""}};
    put.result = record::EncodeResult(result);
    ASSERT_TRUE(store_->Commit({.results = {put}}).ok());
  }
  Publish("windows", {output});
  Pass(absl::Hours(3));
  Use("version 0");
  Pass(absl::Hours(3));
  Collect(kAll);
  int left = 0;
  for (int i = 0; i < kVersions; ++i)
    left += ResultOf(*store_, Digest::Of(fmt::format("version {}", i))).has_value();
  EXPECT_EQ(left, 64);
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("version 0")).has_value()) << "used last";
}

TEST_F(GcTest, ASetGoesWithTheLastResultUnderItsKey) {
  const auto sets_of = [&](const std::string& name) {
    const std::vector<Digest> keys = {Digest::Of("weak " + name)};
    return store_->ObservationSets(keys).value().front().size();
  };
  const Digest kept = Cook("kept");
  Cook("other");
  Publish("windows", {kept});
  // A set without a result yet, and two results under the same key, one of which stays.
  ASSERT_TRUE(store_->Commit({.sets = {{Digest::Of("weak lonely"), "set"}}}).ok());
  PutResult second = SampleResult("second", PutBytes(*store_, "second"));
  PutResult third = SampleResult("third", kept);
  second.weak_key = third.weak_key = Digest::Of("weak shared");
  for (PutResult* put : {&second, &third}) {
    record::Result result = record::DecodeResult(put->result).value();
    result.provenance.weak_key = put->weak_key;
    put->result = record::EncodeResult(result);
  }
  ASSERT_TRUE(store_->Commit({.results = {second, third}}).ok());
  Pass();
  Collect(kAll);
  EXPECT_EQ(sets_of("kept"), 1u);
  EXPECT_EQ(sets_of("shared"), 2u);
  EXPECT_EQ(sets_of("other"), 1u) << "as young as a set whose result is about to come";
  EXPECT_EQ(sets_of("lonely"), 1u);
  Pass(absl::Hours(48));
  Collect({.bytes_max = 0, .is_dry = true});
  EXPECT_EQ(sets_of("other"), 1u);
  Collect(kAll);
  EXPECT_EQ(sets_of("kept"), 1u);
  EXPECT_EQ(sets_of("shared"), 2u);
  EXPECT_EQ(sets_of("other"), 0u);
  EXPECT_EQ(sets_of("lonely"), 0u);
  EXPECT_THAT(store_->Verify()->problems, IsEmpty());
}

TEST_F(GcTest, ADisputeStaysThoughNothingNeedsItUntilNobodyAsksForItAnyMore) {
  Cook("disputed");
  const PutResult other = SampleResult("disputed", PutBytes(*store_, "otherwise"));
  EXPECT_TRUE(absl::IsAlreadyExists(store_->Commit({.results = {other}})));
  const auto is_there = [&] {
    const std::string path = folder_.In("looked at");
    std::filesystem::remove_all(path);
    Copy(path);
    return ResultOf(**OpenLocalStore(path), other.action_key).has_value();
  };
  Pass(absl::Hours(24 * 80));
  Collect({.bytes_max = 0, .age_max = absl::Hours(1)});
  EXPECT_TRUE(is_there());
  Use("disputed");
  Pass(absl::Hours(24 * 80));
  Collect(kAll);
  EXPECT_TRUE(is_there());
  Pass(absl::Hours(24 * 20));
  Collect({.bytes_max = 0, .age_max = absl::Hours(1)});
  EXPECT_FALSE(is_there());
}

TEST_F(GcTest, SetsStayWhileAResultDoesNotSayWhereItBelongs) {
  PutResult put = SampleResult("old", PutBytes(*store_, "old"));
  record::Result result = record::DecodeResult(put.result).value();
  result.provenance.weak_key = Digest();
  put.result = record::EncodeResult(result);
  ASSERT_TRUE(store_->Commit({.results = {put}, .sets = {{Digest::Of("lonely"), "set"}}}).ok());
  Publish("windows", {result.outputs[0].digest});
  Pass(absl::Hours(48));
  Collect(kAll);
  const std::vector<Digest> keys = {put.weak_key, Digest::Of("lonely")};
  const auto sets = store_->ObservationSets(keys).value();
  EXPECT_THAT(sets[0], SizeIs(1));
  EXPECT_THAT(sets[1], SizeIs(1));
}

// A cook commits under the key while the set is collected.
TEST_F(GcTest, ASetThatIsGivenAgainMeanwhileStays) {
  Cook("other");
  PutBytes(*store_, "not named: its age is asked for, after sets were chosen");
  ASSERT_TRUE(store_->Commit({}).ok());
  Pass(absl::Hours(48));
  int asked = 0, times = 0;
  on_now_ = [&] { ++asked; };
  EXPECT_EQ(Collect({.bytes_max = 0, .is_dry = true}).dropped_results, 1u);
  on_now_ = [&] {
    if (++times != asked) return;
    const absl::Status committed = store_->Commit({.results = {SampleResult("other", Digest())}});
    EXPECT_TRUE(committed.ok() || absl::IsAlreadyExists(committed)) << committed;
  };
  Collect(kAll);
  on_now_ = nullptr;
  const std::vector<Digest> keys = {Digest::Of("weak other")};
  EXPECT_THAT(store_->ObservationSets(keys).value().front(), SizeIs(1));
}

TEST_F(GcTest, AsManyRootsStayAsTheProjectWants) {
  std::vector<Digest> files;
  for (int i = 0; i < 5; ++i) files.push_back(Cook(fmt::format("of root {}", i)));
  for (int i = 0; i < 4; ++i) Publish("windows", {files[static_cast<size_t>(i)]}, 2);
  Publish("windows", {files[4]}, 2, /*by_the_book=*/false);
  const Digest android = Cook("android");
  Publish("android", {android}, 2);
  Pass();
  Collect(kAll);
  EXPECT_FALSE(Has(files[0]) || Has(files[1]));
  EXPECT_TRUE(Has(files[2]) && Has(files[3])) << "the two by the book";
  EXPECT_TRUE(Has(files[4])) << "the newest of all";
  EXPECT_TRUE(Has(android));
}

TEST_F(GcTest, TheLeastRecentlyUsedGoFirst) {
  std::map<std::string, Digest> outputs;
  for (const char* name : {"a", "b", "c", "d"}) {
    outputs[name] = Cook(name);
    Pass();
  }
  Use("a");
  Pass();
  EXPECT_EQ(Collect({.bytes_max = 2500}).dropped_results, 2u);
  EXPECT_TRUE(Has(outputs["a"]) && Has(outputs["d"]));
  EXPECT_FALSE(Has(outputs["b"]) || Has(outputs["c"]));
}

TEST_F(GcTest, WhatWasNotUsedForTooLongGoesWhateverTheSize) {
  const Digest old = Cook("old");
  Pass(absl::Hours(50));
  const Digest young = Cook("young");
  Pass();
  Collect({.age_max = absl::Hours(24)});
  EXPECT_FALSE(Has(old));
  EXPECT_TRUE(Has(young));
}

TEST_F(GcTest, WithoutAReasonNothingGoes) {
  const Digest output = Cook("a");
  Pass();
  EXPECT_EQ(Collect({}).dropped_blobs, 0u);
  EXPECT_TRUE(Has(output));
  EXPECT_EQ(Epoch(), 0u);
}

TEST_F(GcTest, ADryRunSaysWhatWouldGoAndDropsNothing) {
  const Digest output = Cook("a");
  Pass();
  const GcReport report = Collect({.bytes_max = 0, .is_dry = true});
  EXPECT_EQ(report.dropped_results, 1u);
  EXPECT_EQ(report.dropped_blobs, 1u);
  EXPECT_EQ(report.dropped_bytes, 1000u);
  EXPECT_TRUE(Has(output));
  EXPECT_EQ(Epoch(), 0u);
}

TEST_F(GcTest, WhatASessionWasToldStaysUntilItEnds) {
  const Digest told = Cook("told"), other = Cook("other"), located = Cook("located");
  Pass();
  std::optional<Session> session(*Session::Begin(directory_, "cook"));
  boot_ = BootTime();  // sessions know only the real time
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("told")).has_value());
  EXPECT_THAT(*store_->FindMissing(std::span(&located, 1)), IsEmpty());
  const Digest put = PutBytes(*store_, "put by it");
  boot_ = BootTime();
  Open();  // a new owner does not know what the session was told
  EXPECT_THAT(Collect(kAll).held_by, ElementsAre(HasSubstr("cook (process ")));
  EXPECT_TRUE(Has(other)) << "nobody knows what it was told";
  session.reset();
  session.emplace(*Session::Begin(directory_, "cook"));
  boot_ = BootTime();
  EXPECT_TRUE(ResultOf(*store_, Digest::Of("told")).has_value());
  EXPECT_THAT(*store_->FindMissing(std::vector<Digest>{located, put}), IsEmpty());
  boot_ = BootTime();
  Collect(kAll);
  EXPECT_FALSE(Has(other));
  EXPECT_TRUE(Has(told) && Has(located) && Has(put));
  session.reset();
  Pass(absl::Hours(25));  // the result of the first went before
  Collect(kAll);
  EXPECT_FALSE(Has(told) || Has(located));
}

TEST_F(GcTest, WhatNoResultNamesStaysADay) {
  const Digest small = PutBytes(*store_, "small"), large = PutBytes(*store_, LargeBytes('l'));
  ASSERT_TRUE(store_->Commit({}).ok());
  Pass(absl::Hours(23));
  Collect(kAll);
  EXPECT_TRUE(Has(small) && Has(large));
  Pass(absl::Hours(2));
  Collect(kAll);
  EXPECT_FALSE(Has(small) || Has(large));
}

TEST_F(GcTest, ResultsOfOthersGoToo) {
  const Digest output = PutBytes(*store_, "theirs");
  ASSERT_TRUE(CommitActionResult(*store_, "team", Digest::Of("action"),
                                 SampleActionResult({{"out", output}}))
                  .ok());
  Pass();
  EXPECT_EQ(Collect({}).results, 1u);
  EXPECT_TRUE(Has(output));
  EXPECT_EQ(Collect(kAll).dropped_results, 1u);
  EXPECT_FALSE(Has(output));
  EXPECT_FALSE(ActionResultOf(*store_, "team", Digest::Of("action")).has_value());
  store_.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  Open();
  PutBytes(*store_, "theirs");
  EXPECT_FALSE(ActionResultOf(*store_, "team", Digest::Of("action")).has_value());
}

TEST_F(GcTest, WhatWentStaysAwayWithoutTheIndex) {
  const Digest gone = Cook("gone"), large = Cook("large", 2'000'000), kept = Cook("kept");
  Publish("windows", {kept});
  Pass();
  Collect(kAll);
  store_.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  Open();
  EXPECT_THAT(*store_->FindMissing(std::vector<Digest>{gone, large, kept}),
              ElementsAre(gone, large));
  EXPECT_FALSE(ResultOf(*store_, Digest::Of("gone")).has_value());
}

// A client asked when the blob was gone already, or was about to go.
TEST_F(GcTest, WhatIsPutAgainMeanwhileStays) {
  const Digest small = Cook("small"), large = Cook("large", 2'000'000);
  Pass();
  std::string small_bytes = *(*store_->Get(small)), large_bytes = *(*store_->Get(large));
  Pass();
  int syncs = 0;
  on_sync_ = [&] {
    if (++syncs == 1) {
      EXPECT_THAT(*store_->FindMissing(std::vector<Digest>{small, large}),
                  ElementsAre(small, large));
      PutBytes(*store_, small_bytes);
      PutBytes(*store_, large_bytes);
      EXPECT_TRUE(GetBytes(*store_, large) == large_bytes);
    }
    return 0;
  };
  EXPECT_EQ(Collect(kAll).dropped_blobs, 2u);
  on_sync_ = nullptr;
  EXPECT_GT(syncs, 0);
  EXPECT_EQ(GetBytes(*store_, small), small_bytes);
  ASSERT_TRUE(store_->Commit({}).ok());
  EXPECT_TRUE(Has(small) && Has(large)) << "after a crash, too";
  store_.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  Open();
  EXPECT_EQ(GetBytes(*store_, small), small_bytes);
  EXPECT_TRUE(GetBytes(*store_, large) == large_bytes);
}

// A client is told that the blob is there, between the choice and the end of the collection.
TEST_F(GcTest, WhatIsToldAfterItWasChosenStays) {
  const Digest told = Cook("told");
  // The digest comes after the blob's, and nothing names it: its age is asked for.
  std::string last = "0";
  while (Digest::Of(last) < told) last += "0";
  PutBytes(*store_, last);
  ASSERT_TRUE(store_->Commit({}).ok());
  Pass();
  // A dry run asks for the time as often as a real run does before it drops anything; the last
  // question is for the blob.
  int asked = 0, times = 0;
  on_now_ = [&] { ++asked; };
  EXPECT_EQ(Collect({.bytes_max = 0, .is_dry = true}).dropped_blobs, 1u);
  on_now_ = [&] {
    if (++times != asked) return;
    EXPECT_THAT(*store_->FindMissing(std::span(&told, 1)), IsEmpty());
  };
  EXPECT_EQ(Collect(kAll).dropped_blobs, 0u);
  EXPECT_GE(times, asked);
  on_now_ = nullptr;
  EXPECT_TRUE(Has(told));
}

TEST_F(GcTest, WhenTheLogCannotBeSyncedNothingHasGone) {
  const Digest small = Cook("small"), large = Cook("large", 2'000'000);
  Pass();
  on_sync_ = [] { return errno = EIO, -1; };
  EXPECT_FALSE(store_->Collect(kAll).ok());
  on_sync_ = nullptr;
  EXPECT_THAT(*store_->FindMissing(std::vector<Digest>{small, large}), IsEmpty());
  EXPECT_TRUE(store_->Get(large).ok());
  EXPECT_GE(Epoch(), 0u);
}

// The collection is cut off before the log said that the file is gone.
TEST_F(GcTest, AFileThatWasPutAsideComesBackUnlessTheLogSaysThatItIsGone) {
  const Digest large = Cook("large", 2'000'000);
  store_.reset();
  fs::rename(BlobFilePath(directory_, large), CollectedFilePath(directory_, large));
  const Digest unknown = Digest::Of("unknown");
  ASSERT_TRUE(WriteFileAtomic(CollectedFilePath(directory_, unknown), "unknown").ok());
  Open();
  EXPECT_TRUE(store_->Get(large).ok());
  EXPECT_FALSE(FileExists(CollectedFilePath(directory_, unknown)));
  EXPECT_FALSE(FileExists(CollectedFilePath(directory_, large)));
}

TEST_F(GcTest, SegmentsOfWorkersGoWhenNothingIsLeftInThemAndTheirNumbersAreNotGivenAgain) {
  std::vector<uint64_t> segments;
  for (const char* name : {"one", "two", "three"}) {
    const uint64_t segment = *store_->AllocateSegment();
    segments.push_back(segment);
    const auto written = *(*SegmentWriter::Open(directory_, segment))->Append(name);
    ASSERT_TRUE(
        store_->Commit({.blobs = {written}, .results = {SampleResult(name, written.first)}}).ok());
  }
  const auto open = *SegmentWriter::Open(directory_, segments[1]);
  Pass();
  Collect(kAll);
  EXPECT_FALSE(FileExists(SegmentPath(directory_, segments[0])));
  EXPECT_TRUE(FileExists(SegmentPath(directory_, segments[1]))) << "a worker has it open";
  Open();
  EXPECT_EQ(Epoch(), 1u) << "nothing was lost besides";
  EXPECT_GT(*store_->AllocateSegment(), segments[2]);
}

// Compared with a model, from a seed: results, roots, uses, collections, unclean ends.
TEST_F(GcTest, WhateverHappensNothingNeededGoesAndAllElseDoes) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    store_.reset();
    ASSERT_TRUE(RemoveAll(directory_).ok());
    boot_ = BootTime();
    later_ = absl::ZeroDuration();
    segment_bytes_max_ = seed % 2 == 0 ? 4000 : 256 << 20;
    Open();
    std::mt19937 random(seed);
    std::map<std::string, Digest> outputs;  // existing outputs
    std::vector<Digest> root, last;         // of the newest root
    const auto pick = [&](uint32_t n) { return random() % n; };
    for (int step = 0; step < 40; ++step) {
      const std::string name = fmt::format("r{}", pick(12));
      switch (pick(6)) {
        case 0:
        case 1:
        case 2:
          outputs[name] = Cook(name, name.ends_with('3') ? 1'200'000 : 500);
          break;
        case 3:
          root.clear();
          for (const auto& [key, digest] : outputs) {
            if (pick(2) == 0) root.push_back(digest);
          }
          if (!root.empty()) Publish("windows", root, 1);
          if (root.empty()) root = last;
          last = root;
          break;
        case 4: {
          Pass();
          Collect(kAll);
          std::erase_if(outputs, [&](const auto& output) {
            return std::find(root.begin(), root.end(), output.second) == root.end();
          });
          break;
        }
        default:
          // The copy is what a kill leaves.
          Copy(folder_.In("crashed"));
          store_.reset();
          ASSERT_TRUE(RemoveAll(directory_).ok());
          fs::rename(folder_.In("crashed"), directory_);
          if (pick(3) == 0) fs::remove_all(JoinPath(directory_, "index"));
          Open();
          break;
      }
      if (pick(4) != 0) continue;
      for (const auto& [key, digest] : outputs) {
        EXPECT_TRUE(store_->Get(digest).ok()) << key << " at step " << step;
      }
      for (const Digest& digest : root) EXPECT_TRUE(store_->Get(digest).ok());
    }
    Pass();
    Collect(kAll);
    std::erase_if(outputs, [&](const auto& output) {
      return std::find(root.begin(), root.end(), output.second) == root.end();
    });
    EXPECT_EQ(store_->Stats()->results, outputs.size());
    EXPECT_THAT(store_->Verify()->problems, IsEmpty());
  }
}

}  // namespace
}  // namespace galley::store
