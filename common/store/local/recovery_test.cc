// A store after a crash, a cut or a loss: the directory is copied or cut at a point and opened
// again.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;

class RecoveryTest : public testing::Test {
 protected:
  static std::unique_ptr<StoreDirectory> Open(const std::string& directory) {
    absl::StatusOr<std::unique_ptr<StoreDirectory>> store =
        OpenLocalStore(directory, {.sync = [](int) { return 0; }});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  // Copies what a crash leaves: everything that was written so far, nothing closed.
  std::string Copy(const std::string& name) {
    fs::copy(live_, folder_.In(name), fs::copy_options::recursive);
    return folder_.In(name);
  }
  static std::pair<Digest, BlobLocation> Write(StoreDirectory& store, const std::string& directory,
                                               std::string_view bytes) {
    return *(*SegmentWriter::Open(directory, *store.AllocateSegment()))->Append(bytes);
  }
  static void Overwrite(const std::string& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 0x40));
  }

  const TemporaryFolder folder_;
  const std::string live_ = folder_.In("live");
};

// Puts some of everything, and checks that it is found again.
struct Story {
  std::string worker_bytes = "from a worker";
  Digest small, large, by_worker, by_worker_large;
  PutResult result, forgotten;

  void Write(StoreDirectory& store, const std::string& directory) {
    small = PutBytes(store, "small");
    large = PutBytes(store, LargeBytes('L'));
    auto writer = *SegmentWriter::Open(directory, *store.AllocateSegment());
    const auto written = *writer->Append(worker_bytes),
               written_large = *writer->Append(LargeBytes('W'));
    by_worker = written.first;
    by_worker_large = written_large.first;
    result = SampleResult("kept", by_worker);
    forgotten = SampleResult("forgotten", small);
    EXPECT_TRUE(
        store.Commit({.blobs = {written, written_large}, .results = {result, forgotten}}).ok());
    EXPECT_TRUE(CommitActionResult(store, "theirs", Digest::Of("action"), Theirs()).ok());
    EXPECT_TRUE(store.Forget(std::span(&forgotten.action_key, 1)).ok());
    EXPECT_EQ(*store.Publish(SampleRoot("windows", small)), 1u);
  }
  std::string Theirs() const { return SampleActionResult({{"out", small}}); }
  void Check(StoreDirectory& store) const {
    EXPECT_EQ(GetBytes(store, small), "small");
    EXPECT_EQ(GetBytes(store, large), LargeBytes('L'));
    EXPECT_EQ(GetBytes(store, by_worker), worker_bytes);
    EXPECT_EQ(GetBytes(store, by_worker_large), LargeBytes('W'));
    EXPECT_THAT(ResultOf(store, result.action_key), Optional(result.result));
    EXPECT_EQ(ResultOf(store, forgotten.action_key), std::nullopt);
    EXPECT_THAT(store.ObservationSets(std::span(&result.weak_key, 1))->front(),
                ElementsAre("set of kept"));
    EXPECT_THAT(ActionResultOf(store, "theirs", Digest::Of("action")), Optional(Theirs()));
    ASSERT_THAT(*store.Roots("project"), SizeIs(1));
    EXPECT_EQ(store.Roots("project")->front().root, small);
    EXPECT_THAT(store.Verify()->problems, IsEmpty());
    const StoreStats stats = *store.Stats();
    EXPECT_EQ(stats.blobs, 4u);
    EXPECT_EQ(stats.files, 2u);
    EXPECT_EQ(stats.results, 1u);
  }
};

TEST_F(RecoveryTest, AClosedStoreIsFoundAgainAsItWas) {
  Story story;
  std::string id;
  {
    const auto store = Open(live_);
    story.Write(*store, live_);
    id = store->Info()->store_id;
  }
  const auto store = Open(live_);
  EXPECT_EQ(store->Info()->store_id, id);
  EXPECT_EQ(EpochOf(*store), 1u);  // from Forget
  story.Check(*store);
}

TEST_F(RecoveryTest, AStoreThatWasNotClosedIsFoundAgainAsItWas) {
  Story story;
  const auto store = Open(live_);
  story.Write(*store, live_);
  const auto after_crash = Open(Copy("crashed"));
  story.Check(*after_crash);
  EXPECT_EQ(EpochOf(*after_crash), 1u);
}

// The blobs are more than are indexed together, in several runs.
TEST_F(RecoveryTest, ALongTailOfBlobsIsFoundAgain) {
  constexpr size_t kBlobs = 20'000;
  std::vector<Digest> digests;
  {
    auto store = Open(live_);
    for (size_t i = 0; i < kBlobs; ++i) {
      const std::string bytes = "blob " + std::to_string(i);
      digests.push_back(Digest::Of(bytes));
      ASSERT_TRUE(store->Put(digests.back(), bytes).ok());
      if (i == kBlobs / 3) {
        ASSERT_TRUE(store->Publish({.project_id = "p", .platform = "pc", .root = digests[0]}).ok());
        ASSERT_TRUE(store->Commit({}).ok());
      }
    }
    ASSERT_TRUE(store->Commit({}).ok());
  }
  fs::remove_all(live_ + "/index");
  auto store = Open(live_);
  EXPECT_THAT(*store->FindMissing(digests), IsEmpty());
  EXPECT_EQ(store->Stats()->blobs, kBlobs);
  EXPECT_EQ(**store->Get(digests[kBlobs / 2]), "blob " + std::to_string(kBlobs / 2));
}

TEST_F(RecoveryTest, DeletingTheIndexLosesNothing) {
  Story story;
  {
    const auto store = Open(live_);
    story.Write(*store, live_);
  }
  fs::remove_all(JoinPath(live_, "index"));
  const auto store = Open(live_);
  story.Check(*store);
  EXPECT_EQ(EpochOf(*store), 2u);  // nobody can tell what the lost index knew
}

TEST_F(RecoveryTest, ADamagedIndexIsMadeAgain) {
  Story story;
  {
    const auto store = Open(live_);
    story.Write(*store, live_);
  }
  for (const auto& entry : fs::directory_iterator(JoinPath(live_, "index"))) {
    if (entry.path().filename().string().starts_with("MANIFEST")) fs::resize_file(entry.path(), 10);
  }
  story.Check(*Open(live_));
}

TEST_F(RecoveryTest, WorkGoesOnAfterACrashAndAnotherOne) {
  Story story;
  const auto store = Open(live_);
  story.Write(*store, live_);
  const std::string crashed = Copy("crashed");
  {
    const auto successor = Open(crashed);
    const PutResult later = SampleResult("later", PutBytes(*successor, "later"));
    ASSERT_TRUE(successor->Commit({.results = {later}}).ok());
    fs::copy(crashed, folder_.In("again"), fs::copy_options::recursive);
  }
  const auto third = Open(folder_.In("again"));
  EXPECT_TRUE(ResultOf(*third, Digest::Of("later")).has_value());
  EXPECT_EQ(*third->Publish(SampleRoot("windows", story.small)), 2u);
}

TEST_F(RecoveryTest, ATailTornAtAnyByteLosesOnlyItsLastRecord) {
  uint64_t first_end = 0;
  Digest first, last;
  {
    const auto store = Open(live_);
    first = PutBytes(*store, "the first");
    ASSERT_TRUE(store->Commit({}).ok());
    first_end = StatFile(SegmentPath(live_, 1))->size_bytes;
    last = PutBytes(*store, "the last");
    ASSERT_TRUE(store->Commit({}).ok());
    Copy("crashed");
  }
  const uint64_t end = StatFile(SegmentPath(folder_.In("crashed"), 1))->size_bytes;
  fs::remove_all(folder_.In("crashed/index"));
  for (uint64_t size = first_end; size <= end; ++size) {
    const std::string cut = folder_.In("cut");
    fs::remove_all(cut);
    fs::copy(folder_.In("crashed"), cut, fs::copy_options::recursive);
    fs::resize_file(SegmentPath(cut, 1), size);
    const auto report = ScanSegment(
        cut, 1, kSegmentHeaderBytes,
        [](uint64_t, const RecordHeader&, std::string_view) { return absl::OkStatus(); });
    const bool is_whole = size >= first_end + kRecordHeaderBytes + last.size_bytes();
    ASSERT_EQ(report->whole_end, is_whole ? size : first_end) << size;
    EXPECT_THAT(report->damaged, IsEmpty());
    if (size % 16 != 0 && size != end)
      continue;  // only some sizes, since making an index takes a while
    const auto store = Open(cut);
    EXPECT_EQ(GetBytes(*store, first), "the first");
    EXPECT_EQ(store->FindMissing(std::span(&last, 1))->empty(), is_whole) << size;
    EXPECT_EQ(GetBytes(*store, PutBytes(*store, "the last")), "the last");
  }
}

TEST_F(RecoveryTest, WhatWasPutDuringACommitIsKeptByTheNextOne) {
  std::string crashed;
  std::unique_ptr<StoreDirectory> store;
  bool is_first = true;
  Digest late;
  const auto put_in_between = [&](int) {
    if (std::exchange(is_first, false)) late = PutBytes(*store, "late");
    return 0;
  };
  store = *OpenLocalStore(live_, {.sync = put_in_between});
  PutBytes(*store, "early");
  ASSERT_TRUE(store->Commit({}).ok());
  ASSERT_TRUE(store->Commit({}).ok());
  const auto after_crash = Open(Copy("crashed"));
  EXPECT_EQ(GetBytes(*after_crash, late), "late");
}

TEST_F(RecoveryTest, ALostSegmentTakesOnlyWhatItHeldAndTheEpochRises) {
  std::pair<Digest, BlobLocation> kept, lost;
  {
    const auto store = Open(live_);
    kept = Write(*store, live_, "kept");
    lost = Write(*store, live_, "lost");
    ASSERT_TRUE(
        store->Commit({.blobs = {kept, lost}, .results = {SampleResult("a", lost.first)}}).ok());
  }
  fs::remove(SegmentPath(live_, lost.second.segment));
  // The loss is told once, however often the store is opened.
  for (int times = 0; times < 2; ++times) {
    const auto store = Open(live_);
    EXPECT_EQ(EpochOf(*store), 1u);
    EXPECT_EQ(GetBytes(*store, kept.first), "kept");
    EXPECT_THAT(*store->FindMissing(std::span(&lost.first, 1)), SizeIs(1));
    EXPECT_EQ(ResultOf(*store, Digest::Of("a")), std::nullopt);
  }
  const auto store = Open(live_);
  PutBytes(*store, "lost");
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_TRUE(ResultOf(*store, Digest::Of("a")).has_value());
}

TEST_F(RecoveryTest, ADeletedFolderOfLargeBlobsTakesOnlyTheseAndTheEpochRises) {
  Digest small, large;
  {
    const auto store = Open(live_);
    small = PutBytes(*store, "small");
    large = PutBytes(*store, LargeBytes('L'));
    ASSERT_TRUE(store->Commit({.results = {SampleResult("a", large)}}).ok());
  }
  fs::remove_all(JoinPath(live_, "files"));
  for (int times = 0; times < 2; ++times) {
    const auto store = Open(live_);
    EXPECT_EQ(EpochOf(*store), 1u);
    EXPECT_EQ(GetBytes(*store, small), "small");
    EXPECT_THAT(*store->FindMissing(std::span(&large, 1)), SizeIs(1));
    EXPECT_EQ(ResultOf(*store, Digest::Of("a")), std::nullopt);
    EXPECT_THAT(store->Verify()->problems, IsEmpty());
  }
  const auto store = Open(live_);
  PutBytes(*store, LargeBytes('L'));
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_TRUE(ResultOf(*store, Digest::Of("a")).has_value());
}

TEST_F(RecoveryTest, NumbersOfSegmentsThatAreGoneAreNotGivenAgain) {
  Digest lost;
  {
    const auto store = Open(live_);
    lost = PutBytes(*store, "lost");
    ASSERT_TRUE(store->Commit({.results = {SampleResult("a", lost)}}).ok());
  }
  fs::remove_all(folder_.In("live/segments"));
  {
    const auto store = Open(live_);
    const Digest other = PutBytes(*store, "other");
    ASSERT_TRUE(store->Commit({.results = {SampleResult("b", other)}}).ok());
    EXPECT_EQ(store->Get(lost).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(ResultOf(*store, Digest::Of("a")), std::nullopt);
  }
  const auto store = Open(live_);
  EXPECT_TRUE(ResultOf(*store, Digest::Of("b")).has_value());
  EXPECT_EQ(store->Get(lost).status().code(), absl::StatusCode::kNotFound);
}

// Every segment names its store.
TEST_F(RecoveryTest, AnIdThatIsGoneIsFoundAgain) {
  std::string id;
  Digest kept;
  {
    const auto store = Open(live_);
    id = store->Info()->store_id;
    kept = PutBytes(*store, "kept");
    ASSERT_TRUE(store->Commit({}).ok());
  }
  fs::remove(folder_.In("live/id"));
  const auto store = Open(live_);
  EXPECT_EQ(store->Info()->store_id, id);
  EXPECT_EQ(GetBytes(*store, kept), "kept");
}

TEST_F(RecoveryTest, AShorterSegmentTakesOnlyItsEnd) {
  std::pair<Digest, BlobLocation> kept, lost;
  {
    const auto store = Open(live_);
    auto writer = *SegmentWriter::Open(live_, *store->AllocateSegment());
    kept = *writer->Append("kept");
    lost = *writer->Append("lost");
    ASSERT_TRUE(store->Commit({.blobs = {kept, lost}}).ok());
  }
  fs::resize_file(SegmentPath(live_, lost.second.segment), lost.second.offset);
  auto store = Open(live_);
  EXPECT_EQ(EpochOf(*store), 1u);
  EXPECT_EQ(GetBytes(*store, kept.first), "kept");
  EXPECT_THAT(*store->FindMissing(std::span(&lost.first, 1)), SizeIs(1));
  // A blob that a worker goes on to write there is copied, because the index was wrong about this
  // place once.
  const auto again = *(*SegmentWriter::Open(live_, lost.second.segment))->Append("lost");
  ASSERT_EQ(again.second, lost.second);
  ASSERT_TRUE(store->Commit({.blobs = {again}}).ok());
  EXPECT_EQ(GetBytes(*store, lost.first), "lost");
  store.reset();
  EXPECT_EQ(GetBytes(*Open(live_), lost.first), "lost");
}

// A power cut leaves such holes in bytes that were not synced yet. Nobody searches everything else
// because of such a hole.
TEST_F(RecoveryTest, AHoleInTheTailCostsWhatLayThereAndTheEpochRises) {
  std::pair<Digest, BlobLocation> adopted, unadopted;
  std::string crashed;
  {
    const auto store = Open(live_);
    adopted = Write(*store, live_, "adopted");
    unadopted = Write(*store, live_, "never adopted");
    ASSERT_TRUE(store->Commit({.blobs = {adopted}}).ok());
    PutBytes(*store, "behind it");
    ASSERT_TRUE(store->Commit({}).ok());
    crashed = Copy("crashed");
  }
  Overwrite(SegmentPath(crashed, unadopted.second.segment + 1),
            kSegmentHeaderBytes + kRecordHeaderBytes + 1);  // in the payload of the adopted record
  auto store = Open(crashed);
  EXPECT_EQ(EpochOf(*store), 1u);
  EXPECT_EQ(GetBytes(*store, Digest::Of("behind it")), "behind it");
  EXPECT_THAT(*store->FindMissing(std::vector<Digest>{adopted.first, unadopted.first}),
              ElementsAre(adopted.first, unadopted.first));
  ASSERT_TRUE(store->Commit({.blobs = {adopted}}).ok());
  EXPECT_EQ(GetBytes(*store, adopted.first), "adopted");
  store.reset();
  EXPECT_EQ(EpochOf(*Open(crashed)), 1u) << "it is known";
}

TEST_F(RecoveryTest, ASegmentWhoseHeaderIsGoneIsLostOnce) {
  Digest digest;
  std::string crashed;
  {
    const auto store = Open(live_);
    digest = PutBytes(*store, "in it");
    ASSERT_TRUE(store->Commit({}).ok());
    crashed = Copy("crashed");
  }
  Overwrite(SegmentPath(crashed, 1), 0);
  for (int times = 0; times < 2; ++times) {
    const auto store = Open(crashed);
    EXPECT_EQ(EpochOf(*store), 1u);
    EXPECT_THAT(*store->FindMissing(std::span(&digest, 1)), SizeIs(1));
  }
  const auto store = Open(crashed);
  EXPECT_EQ(GetBytes(*store, PutBytes(*store, "in it")), "in it");
}

// A socket cannot be opened, like a file whose disk answers with an error.
TEST_F(RecoveryTest, ASegmentThatCannotBeOpenedStopsTheOpeningAndLosesNothing) {
  Story story;
  {
    const auto store = Open(live_);
    story.Write(*store, live_);
  }
  fs::remove_all(JoinPath(live_, "index"));
  const std::string segment = SegmentPath(live_, 1), aside = folder_.In("aside");
  fs::rename(segment, aside);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  segment.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(OpenLocalStore(live_).status().code(), absl::StatusCode::kInternal);
  fs::rename(aside, segment);
  story.Check(*Open(live_));
}

TEST_F(RecoveryTest, AFailedSyncIsFinalForItsFile) {
  bool fails = false;
  const auto store =
      *OpenLocalStore(live_, {.sync = [&](int) { return fails ? (errno = EIO, -1) : 0; }});
  const Digest before = PutBytes(*store, "before");
  ASSERT_TRUE(store->Commit({}).ok());
  fails = true;
  const Digest during = PutBytes(*store, "during");
  EXPECT_EQ(store->Commit({}).code(), absl::StatusCode::kInternal);
  fails = false;
  EXPECT_THAT(*store->FindMissing(std::vector<Digest>{before, during}), IsEmpty());
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_EQ(store->Locate(std::span(&during, 1))->front()->segment, 2u);
  EXPECT_EQ(GetBytes(*Open(Copy("crashed")), during), "during");
}

TEST_F(RecoveryTest, ADamagedEpochIsHigherThanAnyoneWasTold) {
  uint64_t told = 0;
  {
    const auto store = Open(live_);
    const PutResult result = SampleResult("a", PutBytes(*store, "one"));
    ASSERT_TRUE(store->Commit({.results = {result}}).ok());
    ASSERT_TRUE(store->Forget(std::span(&result.action_key, 1)).ok());
    told = store->Info()->loss_epoch;
  }
  const std::string path = JoinPath(live_, "epoch");
  const std::string whole = *ReadFile(path, 4096);
  for (std::string damaged :
       {std::string(), std::string("\0\0", 2), "9" + whole.substr(1),
        whole.substr(0, whole.size() - 2) + "?\n", whole + "1\n", std::string(5000, '1')}) {
    SCOPED_TRACE(damaged.substr(0, 40));
    ASSERT_TRUE(WriteFileAtomic(path, damaged, /*sync=*/false).ok());
    fs::remove_all(JoinPath(live_, "index"));  // the index does not know it, either
    const uint64_t now = Open(live_)->Info()->loss_epoch;
    EXPECT_GT(now, told);
    told = now;
    EXPECT_EQ(Open(live_)->Info()->loss_epoch, told);
  }
}

TEST_F(RecoveryTest, AResultMayHaveComeIntoDisputeInWhatTheIndexDidNotHear) {
  auto store = Open(live_);
  const PutResult first = SampleResult("a", PutBytes(*store, "one"));
  const PutResult second = SampleResult("a", PutBytes(*store, "two"));
  const PutResult other = SampleResult("b", PutBytes(*store, "three"));
  ASSERT_TRUE(store->Commit({.results = {first, other}}).ok());
  ASSERT_TRUE(store->Forget(std::span(&other.action_key, 1)).ok());
  store.reset();
  const std::string before = Copy("before");
  store = Open(live_);
  ASSERT_FALSE(store->Commit({.results = {second}}).ok());
  const uint64_t epoch = store->Info()->loss_epoch;
  EXPECT_EQ(store->Info()->disputed_epoch, epoch);
  const std::string after = Copy("after");
  fs::remove_all(JoinPath(after, "index"));
  fs::copy(JoinPath(before, "index"), JoinPath(after, "index"), fs::copy_options::recursive);
  const std::string without = Copy("without");
  fs::remove_all(JoinPath(without, "index"));
  const StoreInfo known = *Open(before)->Info();
  EXPECT_LT(known.disputed_epoch, known.loss_epoch);
  for (const std::string& directory : {after, without}) {
    const auto opened = Open(directory);
    EXPECT_GE(opened->Info()->disputed_epoch, epoch) << directory;
    const uint64_t disputed = opened->Info()->disputed_epoch;
    ASSERT_TRUE(opened->Commit({.results = {other}}).ok());
    ASSERT_TRUE(opened->Forget(std::span(&other.action_key, 1)).ok());
    EXPECT_EQ(opened->Info()->disputed_epoch, disputed) << directory;
    EXPECT_LT(disputed, opened->Info()->loss_epoch) << directory;
  }
}

TEST_F(RecoveryTest, SegmentsThatNobodyWroteToGoWhenTheStoreIsOpenedUnlessTheyAreYoungOrInUse) {
  uint64_t unused = 0, young = 0, in_use = 0;
  std::pair<Digest, BlobLocation> adopted;
  {
    const auto store = Open(live_);
    unused = *store->AllocateSegment();
    young = *store->AllocateSegment();
    in_use = *store->AllocateSegment();
    adopted = Write(*store, live_, "adopted");
    ASSERT_TRUE(store->Commit({.blobs = {adopted}}).ok());
  }
  const auto writer = *SegmentWriter::Open(live_, in_use);
  for (const uint64_t segment : {unused, in_use, adopted.second.segment}) {
    fs::last_write_time(SegmentPath(live_, segment),
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  auto store = Open(live_);
  EXPECT_FALSE(FileExists(SegmentPath(live_, unused)));
  EXPECT_TRUE(FileExists(SegmentPath(live_, young)));
  EXPECT_EQ(GetBytes(*store, adopted.first), "adopted");
  const auto written = *writer->Append("at last");
  EXPECT_TRUE(store->Commit({.blobs = {written}}).ok());
  EXPECT_EQ(GetBytes(*store, written.first), "at last");
  store.reset();
  EXPECT_EQ(EpochOf(*Open(live_)), 0u);
}

// The index that noted the removal is lost with a crash; the index before still knows the segment.
TEST_F(RecoveryTest, AnUnusedSegmentThatIsGoneIsNoLoss) {
  uint64_t unused = 0;
  {
    const auto store = Open(live_);
    unused = *store->AllocateSegment();
    PutBytes(*store, "kept");
  }
  { const auto store = Open(live_); }  // notes the removal
  fs::remove(SegmentPath(live_, unused));
  const auto store = Open(live_);
  EXPECT_EQ(EpochOf(*store), 0u);
  EXPECT_EQ(GetBytes(*store, Digest::Of("kept")), "kept");
}

TEST_F(RecoveryTest, AnOlderBackupHasALowerNumberOfCommits) {
  uint64_t before = 0, after = 0;
  std::string backup;
  {
    const auto store = Open(live_);
    ASSERT_TRUE(store->Commit({.results = {SampleResult("a", PutBytes(*store, "one"))}}).ok());
    before = store->Info()->commits;
    backup = Copy("backup");
    ASSERT_TRUE(store->Commit({.results = {SampleResult("b", PutBytes(*store, "two"))}}).ok());
    after = store->Info()->commits;
  }
  EXPECT_LT(Open(backup)->Info()->commits, after);
  EXPECT_GE(Open(backup)->Info()->commits, before);
  EXPECT_GE(Open(live_)->Info()->commits, after);
  fs::remove_all(JoinPath(live_, "index"));
  EXPECT_GE(Open(live_)->Info()->commits, after);
}

}  // namespace
}  // namespace galley::store
