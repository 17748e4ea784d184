// Failed syncs, as in the kernel: a failure is reported once, every reader still sees the bytes,
// and the next sync succeeds, until a power cut loses the bytes. Owners die in such syncs or go on;
// in the end the store has everything that any owner promised.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_writer.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Optional;

// Knows for each file which bytes the disk has. Names are always kept.
class FakeKernel {
 public:
  std::function<int(int)> sync() {
    return [this](int file) { return Sync(file); };
  }
  void FailAt(uint64_t number) { fails_at_ = number; }
  void FailNext() { fails_at_ = syncs_ + 1; }
  bool has_failed() const { return has_failed_; }
  // Called while the failed sync has not returned yet.
  std::function<void()> on_failure;

  // Copies the directory as the next owner finds it if this owner is killed now.
  void Copy(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      if (!entry.is_regular_file()) continue;
      const FileDescriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
      const auto known = files_.find(InodeOf(file.get()));
      if (known == files_.end()) continue;
      const Stored stored = known->second.stored;
      const std::string copy = to + entry.path().string().substr(from.size());
      FileOf(FileDescriptor(::open(copy.c_str(), O_RDONLY | O_CLOEXEC)).get()) = stored;
    }
  }
  void CutPower(const std::string& directory) {
    for (const std::string folder : {"segments", "files"}) {
      for (const auto& entry : fs::recursive_directory_iterator(JoinPath(directory, folder))) {
        if (!entry.is_regular_file()) continue;
        Stored& stored = FileOf(FileDescriptor(::open(entry.path().c_str(), O_RDONLY)).get());
        MakeWritable(entry.path());
        fs::resize_file(entry.path(), std::min<uint64_t>(stored.synced, entry.file_size()));
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        for (const auto& [begin, end] : stored.holes) {
          file.seekp(static_cast<std::streamoff>(begin));
          file << std::string(std::min<uint64_t>(end, stored.synced) - begin, '\0');
        }
        stored.holes.clear();
      }
    }
  }

 private:
  struct Stored {
    uint64_t synced = 0;
    std::vector<std::pair<uint64_t, uint64_t>> holes;
  };
  struct File {
    FileDescriptor keep;  // held open, so that no other file gets its number
    Stored stored;
  };

  static ino_t InodeOf(int file) {
    struct stat s {};
    EXPECT_EQ(::fstat(file, &s), 0);
    return s.st_ino;
  }
  Stored& FileOf(int file) {
    File& known = files_[InodeOf(file)];
    if (!known.keep.valid()) known.keep = FileDescriptor(::dup(file));
    return known.stored;
  }
  int Sync(int file) {
    Stored& stored = FileOf(file);
    struct stat s {};
    EXPECT_EQ(::fstat(file, &s), 0);
    const auto size = static_cast<uint64_t>(s.st_size);
    const bool fails = ++syncs_ == fails_at_;
    if (fails && stored.synced < size) stored.holes.emplace_back(stored.synced, size);
    stored.synced = size;
    if (!fails) return 0;
    has_failed_ = true;
    if (on_failure) on_failure();
    errno = EIO;
    return -1;
  }

  std::map<ino_t, File> files_;
  uint64_t syncs_ = 0, fails_at_ = UINT64_MAX;
  bool has_failed_ = false;
};

class FailedSyncTest : public testing::Test {
 protected:
  std::unique_ptr<StoreDirectory> Open(const std::string& directory) {
    absl::StatusOr<std::unique_ptr<StoreDirectory>> store =
        OpenLocalStore(directory, {.sync = kernel_->sync()});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::string Killed(const std::string& directory, const std::string& name) {
    kernel_->Copy(directory, folder_.In(name));
    return folder_.In(name);
  }
  std::string PowerCut(const std::string& directory, const std::string& name) {
    kernel_->Copy(directory, folder_.In(name));
    kernel_->CutPower(folder_.In(name));
    return folder_.In(name);
  }

  const TemporaryFolder folder_;
  const std::string live_ = folder_.In("live");
  std::unique_ptr<FakeKernel> kernel_ = std::make_unique<FakeKernel>();
};

// Reported: the blobs that a worker wrote, and reports until it is told that they are durable.
struct Reported {
  std::pair<Digest, BlobLocation> small, large;
  CommitBatch batch;

  void Write(const std::string& directory, uint64_t segment) {
    auto writer = *SegmentWriter::Open(directory, segment);
    small = *writer->Append("small, of a worker");
    large = *writer->Append(LargeBytes('W'));
    batch = {.blobs = {small, large},
             .results = {SampleResult("a", small.first), SampleResult("b", large.first)}};
  }
  // Checks that everything that CommitAndPublish made is there.
  void Check(StoreDirectory& store) const {
    EXPECT_EQ(GetBytes(store, Digest::Of("root")), "root");
    EXPECT_EQ(GetBytes(store, Digest::Of(LargeBytes('P'))), LargeBytes('P'));
    EXPECT_THAT(*store.Roots("project"), testing::Not(IsEmpty()));
    EXPECT_EQ(GetBytes(store, small.first), "small, of a worker");
    EXPECT_EQ(GetBytes(store, large.first), LargeBytes('W'));
    for (const PutResult& result : batch.results)
      EXPECT_THAT(ResultOf(store, result.action_key), Optional(result.result));
  }
};

// A director's commit: it puts something beside the worker's blobs.
absl::Status CommitAndPublish(StoreDirectory& store, const Reported& reported) {
  RETURN_IF_ERROR(store.Put(Digest::Of("root"), "root"));
  RETURN_IF_ERROR(store.Put(Digest::Of(LargeBytes('P')), LargeBytes('P')));
  RETURN_IF_ERROR(store.Commit(reported.batch));
  return store.Publish(SampleRoot("windows", Digest::Of("root"))).status();
}

// Acts as a worker whose blobs are gone.
absl::Status CommitAgain(StoreDirectory& store, const std::string& directory, Reported& reported) {
  absl::Status status = CommitAndPublish(store, reported);
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  reported.Write(directory, *store.AllocateSegment());
  return CommitAndPublish(store, reported);
}

// Every sync of a commit and a publication fails once, and the owner dies in it or survives. Then
// every sync of the next owner's commit fails once, including its opening.
TEST_F(FailedSyncTest, WhatALaterOwnerPromisesIsThereAfterAPowerCut) {
  for (const bool dies_in_it : {true, false}) {
    bool has_failed = true;
    for (uint64_t n = 1; has_failed; ++n) {
      SCOPED_TRACE(testing::Message() << "sync " << n << (dies_in_it ? " is the last" : ""));
      kernel_ = std::make_unique<FakeKernel>();
      for (const char* name : {"live", "killed", "again", "cut"}) fs::remove_all(folder_.In(name));
      Reported reported;
      kernel_->FailAt(n);
      if (dies_in_it) kernel_->on_failure = [this] { Killed(live_, "killed"); };
      auto first = Open(live_);
      reported.Write(live_, *first->AllocateSegment());
      const absl::Status committed = CommitAndPublish(*first, reported);
      has_failed = kernel_->has_failed();
      EXPECT_EQ(committed.ok(), !has_failed) << committed;
      kernel_->on_failure = nullptr;
      kernel_->FailAt(UINT64_MAX);
      if (!dies_in_it || !has_failed) Killed(live_, "killed");

      auto second = Open(folder_.In("killed"));
      ASSERT_TRUE(CommitAgain(*second, folder_.In("killed"), reported).ok());
      const auto after_cut = Open(PowerCut(folder_.In("killed"), "cut"));
      reported.Check(*after_cut);
      EXPECT_FALSE(FileExists(SyncMarkPath(folder_.In("cut"))));
    }
  }
}

// The second owner's own syncs fail while it opens the store that the first left.
TEST_F(FailedSyncTest, AnOpeningThatFailsLeavesTheNextOneAsCareful) {
  bool has_failed = true;
  for (uint64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "sync " << n);
    kernel_ = std::make_unique<FakeKernel>();
    for (const char* name : {"live", "killed", "cut"}) fs::remove_all(folder_.In(name));
    Reported reported;
    {
      const auto first = Open(live_);
      reported.Write(live_, *first->AllocateSegment());
      kernel_->on_failure = [this] { Killed(live_, "killed"); };
      kernel_->FailAt(4);  // the owner's segment, after the worker's segment and files
      EXPECT_FALSE(CommitAndPublish(*first, reported).ok());
      kernel_->on_failure = nullptr;
    }
    const std::string killed = folder_.In("killed");
    ASSERT_TRUE(FileExists(killed));
    auto counting = std::make_shared<uint64_t>(0);
    const auto fails_once = [this, n, counting](int file) {
      if (++*counting == n) kernel_->FailNext();
      return kernel_->sync()(file);
    };
    const auto second = OpenLocalStore(killed, {.sync = fails_once});
    has_failed = *counting >= n;
    EXPECT_EQ(second.ok(), !has_failed) << second.status();
    if (!has_failed) continue;
    const auto third = Open(killed);
    ASSERT_TRUE(CommitAgain(*third, killed, reported).ok());
    reported.Check(*Open(PowerCut(killed, "cut")));
  }
}

// A caller puts a blob and another caller's commit fails: the first caller's own commit still
// promises the blob.
TEST_F(FailedSyncTest, WhatOthersPutOutlivesACommitThatFails) {
  bool has_failed = true;
  for (uint64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "sync " << n);
    kernel_ = std::make_unique<FakeKernel>();
    for (const char* name : {"live", "cut"}) fs::remove_all(folder_.In(name));
    Reported reported;
    auto store = Open(live_);
    reported.Write(live_, *store->AllocateSegment());
    ASSERT_TRUE(store->Put(Digest::Of("put"), "put").ok());
    ASSERT_TRUE(store->Put(Digest::Of(LargeBytes('P')), LargeBytes('P')).ok());
    kernel_->FailAt(n);
    const absl::Status committed = store->Commit(reported.batch);
    has_failed = kernel_->has_failed();
    EXPECT_EQ(committed.ok(), !has_failed) << committed;
    kernel_->FailAt(UINT64_MAX);
    ASSERT_TRUE(store->Commit({}).ok());
    const auto after_cut = Open(PowerCut(live_, "cut"));
    EXPECT_EQ(GetBytes(*after_cut, Digest::Of("put")), "put");
    EXPECT_EQ(GetBytes(*after_cut, Digest::Of(LargeBytes('P'))), LargeBytes('P'));
  }
}

// If the bytes cannot be kept, nobody is promised anything any more.
TEST_F(FailedSyncTest, WhatCannotBePutElsewhereStopsTheOwner) {
  for (const std::string& bytes : {std::string("put"), LargeBytes('P')}) {
    fs::remove_all(live_);
    bool fails = false;
    const auto store = *OpenLocalStore(live_, {.sync = [&](int) {
                                         if (!fails) return 0;
                                         // Nor can the bytes be read again.
                                         for (const char* folder : {"segments", "files"})
                                           fs::remove_all(JoinPath(live_, folder));
                                         errno = EIO;
                                         return -1;
                                       }});
    ASSERT_TRUE(store->Put(Digest::Of(bytes), bytes).ok());
    fails = true;
    EXPECT_EQ(store->Commit({}).code(), absl::StatusCode::kInternal);
    fails = false;
    EXPECT_THAT(std::string(store->Commit({}).message()),
                testing::HasSubstr("has to be opened anew"));
  }
}

TEST_F(FailedSyncTest, AnOwnerGoesOnAndCopiesFromASegmentWhoseSyncFailed) {
  auto store = Open(live_);
  const uint64_t segment = *store->AllocateSegment();
  auto writer = *SegmentWriter::Open(live_, segment);
  const auto written = *writer->Append("written before");
  kernel_->FailNext();
  EXPECT_EQ(store->Commit({.blobs = {written}}).code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(FileExists(SyncMarkPath(live_)));
  const auto later = *writer->Append("written after");
  ASSERT_TRUE(store->Commit({.blobs = {written, later}}).ok());
  EXPECT_NE(store->Locate(std::span(&written.first, 1))->front()->segment, segment);
  EXPECT_EQ(store->Locate(std::span(&later.first, 1))->front()->segment, segment);
  const auto after_cut = Open(PowerCut(live_, "cut"));
  EXPECT_EQ(GetBytes(*after_cut, written.first), "written before");
  EXPECT_EQ(GetBytes(*after_cut, later.first), "written after");
}

// The first owner saw the sync fail, the next was never told of the blob, the third is told.
TEST_F(FailedSyncTest, WhatLayInAWorkersSegmentBeforeAnOwnerCameIsCopied) {
  std::pair<Digest, BlobLocation> before, after;
  std::unique_ptr<SegmentWriter> writer;
  {
    const auto store = Open(live_);
    writer = *SegmentWriter::Open(live_, *store->AllocateSegment());
    before = *writer->Append("before");
    kernel_->FailNext();
    EXPECT_FALSE(store->Commit({.blobs = {before}}).ok());
  }
  { const auto store = Open(live_); }
  EXPECT_FALSE(FileExists(SyncMarkPath(live_)));
  const auto store = Open(live_);
  after = *writer->Append("after");
  ASSERT_TRUE(store->Commit({.blobs = {before, after}}).ok());
  EXPECT_NE(store->Locate(std::span(&before.first, 1))->front()->segment, before.second.segment);
  EXPECT_EQ(store->Locate(std::span(&after.first, 1))->front()->segment, after.second.segment);
  EXPECT_EQ(GetBytes(*Open(PowerCut(live_, "cut")), before.first), "before");
}

TEST_F(FailedSyncTest, WrongBytesInDoubtAreRefused) {
  std::pair<Digest, BlobLocation> written;
  {
    const auto store = Open(live_);
    written = *(*SegmentWriter::Open(live_, *store->AllocateSegment()))->Append("written");
  }
  {
    std::fstream file(SegmentPath(live_, written.second.segment),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(written.second.offset + kRecordHeaderBytes));
    file << "W";
  }
  const auto store = Open(live_);
  EXPECT_EQ(store->Commit({.blobs = {written}}).code(), absl::StatusCode::kInvalidArgument);
}

// A file that nobody adopted, whose bytes the caches have lost by now.
TEST_F(FailedSyncTest, AWrongFileInDoubtGoes) {
  Reported reported;
  {
    const auto store = Open(live_);
    reported.Write(live_, *store->AllocateSegment());
    kernel_->on_failure = [this] { Killed(live_, "killed"); };
    kernel_->FailNext();
    EXPECT_FALSE(store->Commit(reported.batch).ok());
    kernel_->on_failure = nullptr;
  }
  const std::string killed = folder_.In("killed");
  const std::string path = BlobFilePath(killed, reported.large.first);
  ASSERT_TRUE(FileExists(path));
  MakeWritable(path);
  std::ofstream(path, std::ios::binary) << LargeBytes('\0');
  const auto store = Open(killed);
  EXPECT_FALSE(FileExists(path));
  EXPECT_EQ(store->Commit(reported.batch).code(), absl::StatusCode::kInvalidArgument);
}

// An opening reads only files that were being synced, however many files there are.
TEST_F(FailedSyncTest, OnlyFilesThatTheMarkNamesAreWrittenAnew) {
  Reported reported;
  Digest other;
  {
    const auto store = Open(live_);
    reported.Write(live_, *store->AllocateSegment());
    other = (*SegmentWriter::Open(live_, *store->AllocateSegment()))
                ->Append(LargeBytes('O'))
                ->first;  // not reported yet
    kernel_->on_failure = [this] { Killed(live_, "killed"); };
    kernel_->FailNext();
    EXPECT_FALSE(store->Commit(reported.batch).ok());
    kernel_->on_failure = nullptr;
  }
  const std::string killed = folder_.In("killed");
  const auto inode_of = [&](const Digest& blob) {
    return StatFile(BlobFilePath(killed, blob))->inode;
  };
  const uint64_t named = inode_of(reported.large.first), unnamed = inode_of(other);
  { const auto store = Open(killed); }
  EXPECT_NE(inode_of(reported.large.first), named);
  EXPECT_EQ(inode_of(other), unnamed);
}

TEST_F(FailedSyncTest, TheMarkLiesThereWhileASyncRunsAndNoLonger) {
  uint64_t syncs = 0;
  auto store = *OpenLocalStore(live_, {.sync = [&](int) {
                                 ++syncs;
                                 EXPECT_TRUE(FileExists(SyncMarkPath(live_)));
                                 return 0;
                               }});
  EXPECT_FALSE(FileExists(SyncMarkPath(live_)));
  const PutResult result = SampleResult("a", PutBytes(*store, "one"));
  ASSERT_TRUE(store->Commit({.results = {result}}).ok());
  EXPECT_FALSE(FileExists(SyncMarkPath(live_)));
  ASSERT_TRUE(store->Forget(std::span(&result.action_key, 1)).ok());
  EXPECT_FALSE(FileExists(SyncMarkPath(live_)));
  EXPECT_GT(syncs, 2u);
}

// The owner ended uncleanly, but no sync was cut short: nothing is copied.
TEST_F(FailedSyncTest, WithoutAMarkTheLogStaysWhereItIs) {
  const auto store = Open(live_);
  PutBytes(*store, "one");
  ASSERT_TRUE(store->Commit({}).ok());
  const std::string killed = Killed(live_, "killed");
  const uint64_t inode = StatFile(SegmentPath(killed, 1))->inode;
  { const auto successor = Open(killed); }
  EXPECT_EQ(StatFile(SegmentPath(killed, 1))->inode, inode);
  ASSERT_TRUE(AppendSyncMark(killed, EncodeSyncMark({})).ok());
  fs::remove_all(JoinPath(killed, "index"));
  const auto careful = Open(killed);
  EXPECT_NE(StatFile(SegmentPath(killed, 1))->inode, inode);
  EXPECT_EQ(GetBytes(*careful, Digest::Of("one")), "one");
}

}  // namespace
}  // namespace galley::store
