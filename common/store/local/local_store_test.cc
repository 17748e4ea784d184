// Tests of LocalStore: who may open it, wrong bytes, and full disks.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/sealed_text.h"
#include "common/base/testing/await.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_writer.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreOptions Quick() {
    return {.sync = [](int) { return 0; }};
  }
  // Flips a bit of every byte string `wanted` in the file.
  static void Damage(const std::string& path, std::string_view wanted) {
    std::string bytes = *ReadFile(path);
    const size_t at = bytes.find(wanted);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    MakeWritable(path);
    std::ofstream(path, std::ios::binary | std::ios::in)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
};

TEST_F(LocalStoreTest, HasOneOwner) {
  {
    const auto store = OpenLocalStore(directory_, Quick());
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(OpenLocalStore(directory_).status().code(), absl::StatusCode::kAlreadyExists);
  }
  EXPECT_TRUE(OpenLocalStore(directory_, Quick()).ok());
}

// The records are more than a write takes, and their bytes more than are written at once; their
// segments tell all of them again.
TEST_F(LocalStoreTest, ManyThatArePutTogetherAreRecordsLikeAnyOthers) {
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i)
    texts.push_back(std::to_string(i) + std::string(i % 1000 == 0 ? 600'000 : i % 7, 'x'));
  std::vector<BlobView> blobs;
  uint64_t bytes = 0;
  for (const std::string& text : texts) {
    blobs.push_back({Digest::Of(text), text});
    bytes += text.size();
  }
  for (const bool is_index_lost : {false, true}) {
    if (is_index_lost) fs::remove_all(directory_ + "/index");
    const auto store = *OpenLocalStore(directory_, Quick());
    for (const absl::Status& outcome : store->PutMany(blobs)) ASSERT_TRUE(outcome.ok()) << outcome;
    ASSERT_TRUE(store->Commit({}).ok());
    EXPECT_EQ(store->Stats()->blobs, texts.size());
    EXPECT_EQ(store->Stats()->blob_bytes, bytes);
    const VerifyReport report = *store->Verify();
    EXPECT_EQ(report.blobs, texts.size());
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_EQ(**store->Get(blobs[2001].digest), texts[2001]);
  }
}

TEST_F(LocalStoreTest, WhatIsPutTwiceAtOnceIsWrittenOnce) {
  const auto store = *OpenLocalStore(directory_, Quick());
  PutBytes(*store, "the first record");
  ASSERT_TRUE(store->Commit({}).ok());
  const uint64_t before = store->Stats()->segment_bytes;
  const BlobView blob = {Digest::Of("again"), "again"};
  for (const absl::Status& outcome : store->PutMany(std::vector{blob, blob, blob}))
    EXPECT_TRUE(outcome.ok());
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_EQ(store->Stats()->segment_bytes, before + RecordSpan(blob.bytes.size()));
}

// A reader of pieces believes the pieces only when it is told the end.
TEST_F(LocalStoreTest, AWrongFileHasNoEndAndIsQuarantined) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const std::string bytes = LargeBytes('x', (3 << 20) + 5);
  const Digest digest = PutBytes(*store, bytes);
  ASSERT_TRUE(store->Commit({}).ok());
  std::string wrong = bytes;
  wrong[0] = 'y';
  const std::string path = BlobFilePath(directory_, digest);
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << wrong;
  for (const uint64_t offset : {uint64_t{0}, uint64_t{bytes.size()}}) {
    if (offset != 0) {
      PutBytes(*store, bytes);
      MakeWritable(path);
      std::ofstream(path, std::ios::binary) << wrong;
    }
    auto reader = *store->NewReader(digest, offset);
    uint64_t read = offset;
    absl::StatusOr<std::string_view> piece;
    while ((piece = reader->Next(1 << 20)).ok() && !piece->empty()) read += piece->size();
    EXPECT_EQ(piece.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(piece.status().message()), HasSubstr("quarantined"));
    EXPECT_TRUE(offset != 0 || read < bytes.size()) << "the last piece is kept back";
    EXPECT_THAT(*store->FindMissing(std::span(&digest, 1)), SizeIs(1));
  }
}

TEST_F(LocalStoreTest, AFileThatIsShorterOrGoneIsLost) {
  const auto store = *OpenLocalStore(directory_, Quick());
  for (const bool is_gone : {false, true}) {
    const Digest digest = PutBytes(*store, LargeBytes(is_gone ? 'g' : 's'));
    const std::string path = BlobFilePath(directory_, digest);
    MakeWritable(path);
    if (is_gone) fs::remove(path);
    if (!is_gone) fs::resize_file(path, 1'200'000);
    EXPECT_EQ(store->NewReader(digest, 0).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(store->NewReader(digest, 0).status().code(), absl::StatusCode::kNotFound);
  }
}

TEST_F(LocalStoreTest, AWriterThatDoesNotFinishLeavesNothing) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const std::string bytes = LargeBytes('x');
  const auto temporaries = [&] {
    return std::distance(fs::directory_iterator(JoinPath(directory_, "tmp")), {});
  };
  {
    const auto writer = *store->NewWriter(Digest::Of(bytes));
    ASSERT_TRUE(writer->Append(bytes).ok());
    EXPECT_EQ(temporaries(), 1);
  }
  EXPECT_EQ(temporaries(), 0);
  EXPECT_THAT(*store->FindMissing(std::vector<Digest>{Digest::Of(bytes)}), SizeIs(1));
}

// The existing file may be synced, and a new file is not: until the next commit a power cut would
// take it.
TEST_F(LocalStoreTest, ARightFileIsNotReplacedAndNobodyCanWriteToIt) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const std::string bytes = LargeBytes('x');
  const Digest digest = PutBytes(*store, bytes);
  const FileStat before = *StatFile(BlobFilePath(directory_, digest));
  EXPECT_EQ(before.mode & 0777, 0444u);
  const auto writer = *store->NewWriter(digest);
  ASSERT_TRUE(writer->Append(bytes).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(StatFile(BlobFilePath(directory_, digest))->inode, before.inode);
}

// While a commit waits for the disk other commits come, mostly together. A flaw of one commit is no
// other commit's business, and a blob that two commits bring is kept once.
TEST_F(LocalStoreTest, ABadCommitAmongOthersFailsAlone) {
  constexpr int kOthers = 8;
  std::atomic<int> coming = 0;
  const auto store = *OpenLocalStore(directory_, {.sync = [&](int) {
                                       while (coming < kOthers) std::this_thread::yield();
                                       return 0;
                                     }});
  const PutResult result = SampleResult("of all", Digest());
  const auto written =
      *(*SegmentWriter::Open(directory_, *store->AllocateSegment()))->Append("of all");
  std::vector<absl::Status> outcomes(kOthers);
  std::vector<std::thread> threads;
  const WaitLimit limit("commits that come while another one waits for the disk");
  PutBytes(*store, "first");
  for (int i = 0; i < kOthers; ++i) {
    threads.emplace_back([&, i] {
      CommitBatch batch{.blobs = {written}, .results = {result}};
      if (i == 3) batch.blobs[0].first = Digest::Of("another");
      if (i == 3) batch.results[0].action_key = Digest::Of("of the bad one");
      ++coming;
      outcomes[static_cast<size_t>(i)] = store->Commit(batch);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kOthers; ++i) {
    const absl::StatusCode code = outcomes[static_cast<size_t>(i)].code();
    EXPECT_EQ(code, i == 3 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk) << i;
  }
  EXPECT_EQ(GetBytes(*store, written.first), "of all");
  EXPECT_TRUE(ResultOf(*store, result.action_key).has_value());
  EXPECT_EQ(ResultOf(*store, Digest::Of("of the bad one")), std::nullopt);
  const StoreStats stats = *store->Stats();
  EXPECT_EQ(stats.blobs, 2u);
  EXPECT_EQ(stats.observation_sets, 1u);
}

// Two blobs lie in the same segment, which is opened once.
TEST_F(LocalStoreTest, ARecordThatIsCutOffIsNotCommitted) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const uint64_t segment = *store->AllocateSegment();
  const auto writer = *SegmentWriter::Open(directory_, segment);
  const auto whole = *writer->Append("this one is whole");
  const auto cut = *writer->Append("and this one is cut off");
  ASSERT_EQ(::truncate(SegmentPath(directory_, segment).c_str(),
                       static_cast<off_t>(cut.second.offset + kRecordHeaderBytes + 5)),
            0);
  EXPECT_EQ(store->Commit({.blobs = {whole, cut}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store->Commit({.blobs = {whole}}).ok());
  EXPECT_THAT(*store->FindMissing(std::vector{whole.first, cut.first}),
              testing::ElementsAre(cut.first));
}

TEST_F(LocalStoreTest, ANumberThatSomebodyElseTookIsLeftOut) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const uint64_t first = *store->AllocateSegment();
  ASSERT_TRUE(WriteFileAtomic(SegmentPath(directory_, first + 1), "of another owner").ok());
  EXPECT_EQ(*store->AllocateSegment(), first + 2);
}

TEST_F(LocalStoreTest, RefusesAnotherFormat) {
  ASSERT_TRUE(OpenLocalStore(directory_, Quick()).ok());
  ASSERT_TRUE(WriteFileAtomic(JoinPath(directory_, "format"), Seal("galley-store", 2, {})).ok());
  const absl::Status status = OpenLocalStore(directory_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("galley-store 2"));
}

TEST_F(LocalStoreTest, RefusesAFolderThatIsNoStore) {
  ASSERT_TRUE(WriteFileAtomic(folder_.In("notes.txt"), "mine").ok());
  const absl::Status status = OpenLocalStore(folder_.path()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("notes.txt"));
}

TEST_F(LocalStoreTest, SaysWhatToDoAboutADirectoryThatIsNotWritable) {
  ASSERT_TRUE(CreateDirectories(directory_).ok());
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec |
                                  fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder_.path(), fs::perms::all);
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const absl::Status status = OpenLocalStore(directory_).status();
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(directory_, fs::perms::all);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_));
  EXPECT_THAT(std::string(status.message()), HasSubstr("write permission"));
}

TEST_F(LocalStoreTest, AnswersAFullDiskAndGoesOnWhenThereIsSpace) {
  LocalStoreOptions options = Quick();
  ASSERT_TRUE(OpenLocalStore(directory_, options).ok());
  options.free_bytes_margin = UINT64_MAX / 2;
  const Digest digest = Digest::Of("more");
  {
    const auto store = *OpenLocalStore(directory_, options);
    const absl::Status full = store->Put(digest, "more");
    EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
    EXPECT_THAT(std::string(full.message()), HasSubstr(directory_));
    EXPECT_THAT(std::string(full.message()), HasSubstr("galley store gc"));
    EXPECT_TRUE(store->Stats().ok());
    EXPECT_TRUE(store->Collect({}).ok());
    EXPECT_TRUE(store->Verify().ok());
  }
  options.free_bytes_least = UINT64_MAX / 2;
  const absl::Status opened = OpenLocalStore(directory_, options).status();
  EXPECT_TRUE(absl::IsResourceExhausted(opened)) << opened;
  EXPECT_THAT(std::string(opened.message()), HasSubstr("bytes free"));
  EXPECT_TRUE((*OpenLocalStore(directory_, Quick()))->Put(digest, "more").ok());
}

TEST_F(LocalStoreTest, QuarantinesASmallBlobThatRotted) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const Digest digest = PutBytes(*store, "rots in a segment");
  ASSERT_TRUE(store->Commit({.results = {SampleResult("a", digest)}}).ok());
  Damage(SegmentPath(directory_, 1), "rots in a segment");
  EXPECT_EQ(store->Get(digest).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(EpochOf(*store), 1u);
  EXPECT_EQ(store->Get(digest).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ResultOf(*store, Digest::Of("a")), std::nullopt);
  EXPECT_EQ(store->Stats()->quarantined, 1u);
  PutBytes(*store, "rots in a segment");
  EXPECT_EQ(GetBytes(*store, digest), "rots in a segment");
  EXPECT_TRUE(ResultOf(*store, Digest::Of("a")).has_value());
}

TEST_F(LocalStoreTest, QuarantinesALargeBlobThatRottedOrIsGone) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const Digest rots = PutBytes(*store, LargeBytes('r')), goes = PutBytes(*store, LargeBytes('g'));
  ASSERT_TRUE(store->Commit({}).ok());
  Damage(BlobFilePath(directory_, rots), "rrr");
  fs::remove(BlobFilePath(directory_, goes));
  EXPECT_EQ(store->Get(rots).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(store->Get(goes).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(FileExists(BlobFilePath(directory_, rots)));
  EXPECT_EQ(store->Stats()->quarantined, 2u);
  EXPECT_EQ(EpochOf(*store), 2u);
}

TEST_F(LocalStoreTest, VerifyFindsWhatRottedOnceAndIsCleanAfterwards) {
  auto store = *OpenLocalStore(directory_, Quick());
  const Digest small = PutBytes(*store, "a small blob");
  const Digest large = PutBytes(*store, LargeBytes('v'));
  const PutResult result = SampleResult("a", small), other = SampleResult("b", small);
  ASSERT_TRUE(store->Commit({.results = {result, other}}).ok());
  ASSERT_TRUE(store->Publish(SampleRoot("windows", large)).ok());
  Damage(SegmentPath(directory_, 1), "set of a");
  Damage(SegmentPath(directory_, 1), "windows");
  Damage(BlobFilePath(directory_, large), "vvv");
  EXPECT_THAT(store->Verify()->problems, testing::Not(IsEmpty()));
  EXPECT_GT(EpochOf(*store), 0u);
  EXPECT_THAT(store->Verify()->problems, IsEmpty());
  EXPECT_THAT(*store->Roots("project"), SizeIs(1));
  store.reset();
  fs::remove_all(JoinPath(directory_, "index"));
  store = *OpenLocalStore(directory_, Quick());
  EXPECT_THAT(*store->Roots("project"), SizeIs(1));
  EXPECT_EQ(GetBytes(*store, small), "a small blob");
  EXPECT_EQ(store->FindMissing(std::span(&large, 1))->size(), 1u);
}

TEST_F(LocalStoreTest, BeginsAnotherSegmentWhenItsOwnIsFull) {
  LocalStoreOptions options = Quick();
  options.segment_bytes_max = 1000;
  auto store = *OpenLocalStore(directory_, options);
  std::vector<Digest> digests;
  for (int i = 0; i < 50; ++i)
    digests.push_back(PutBytes(*store, "blob number " + std::to_string(i)));
  ASSERT_TRUE(store->Commit({}).ok());
  EXPECT_GT(store->Stats()->segments, 4u);
  store.reset();
  store = *OpenLocalStore(directory_, options);
  EXPECT_THAT(*store->FindMissing(digests), IsEmpty());
  EXPECT_EQ(EpochOf(*store), 0u);
}

TEST_F(LocalStoreTest, GoesOnFillingItsSegmentAfterAnOrderlyClose) {
  for (int i = 0; i < 3; ++i) {
    const auto store = *OpenLocalStore(directory_, Quick());
    PutBytes(*store, "run " + std::to_string(i));
    ASSERT_TRUE(store->Commit({}).ok());
    EXPECT_EQ(store->Stats()->segments, 1u);
  }
}

TEST_F(LocalStoreTest, KeepsEverythingThatManyThreadsPutAndCommit) {
  LocalStoreOptions options = Quick();
  options.pending_blobs_max = 16;
  auto store = *OpenLocalStore(directory_, options);
  std::vector<std::vector<Digest>> digests(4);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < digests.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string bytes = "thread " + std::to_string(thread) + " blob " + std::to_string(i);
        digests[thread].push_back(PutBytes(*store, bytes));
        EXPECT_EQ(GetBytes(*store, digests[thread].back()), bytes);
        if (i % 10 == 0) {
          EXPECT_TRUE(store->Commit({}).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  store.reset();
  store = *OpenLocalStore(directory_, Quick());
  for (const auto& of_thread : digests) EXPECT_THAT(*store->FindMissing(of_thread), IsEmpty());
  EXPECT_EQ(store->Stats()->blobs, 200u);
}

TEST_F(LocalStoreTest, ASegmentHasOneWriterAndTheOwnersIsNotForOthers) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const uint64_t segment = *store->AllocateSegment();
  const auto writer = SegmentWriter::Open(directory_, segment);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ(SegmentWriter::Open(directory_, segment).status().code(),
            absl::StatusCode::kFailedPrecondition);
  PutBytes(*store, "in the owner's segment");
  EXPECT_EQ(SegmentWriter::Open(directory_, segment + 1).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(SegmentWriter::Open(directory_, 99).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LocalStoreTest, AWriterGoesOnAfterTheLastWholeRecord) {
  const auto store = *OpenLocalStore(directory_, Quick());
  const uint64_t segment = *store->AllocateSegment();
  const auto first = *(*SegmentWriter::Open(directory_, segment))->Append("first");
  std::ofstream(SegmentPath(directory_, segment), std::ios::binary | std::ios::app) << "torn";
  const auto second = *(*SegmentWriter::Open(directory_, segment))->Append("second");
  EXPECT_EQ(**ReadBlobAt(directory_, first.first, first.second), "first");
  EXPECT_EQ(**ReadBlobAt(directory_, second.first, second.second), "second");
  EXPECT_EQ(ReadBlobAt(directory_, first.first, second.second).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace galley::store
