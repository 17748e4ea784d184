// Tests of collections over files that killed processes and full disks left behind.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/writer_note.h"

namespace galley::store {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class UnadoptedTest : public GcTest {
 protected:
  static constexpr GcOptions kNothingElse{.bytes_max = UINT64_MAX};

  static void SetAge(const std::string& path, absl::Duration age) {
    const timespec time = absl::ToTimespec(absl::Now() - age);
    const timespec times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  // Leaves a file as a program of the time before notes, or a copy of a store, would.
  Digest LeaveFile(char fill, absl::Duration age) {
    const std::string bytes = LargeBytes(fill);
    const Digest digest = Digest::Of(bytes);
    const std::string path = BlobFilePath(directory_, digest);
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << bytes;
    SetAge(path, age);
    return digest;
  }
  // Leaves a file as a worker does that is killed before anybody takes its report.
  Digest LeaveFileOfTheDead(char fill) {
    const std::string bytes = LargeBytes(fill);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(WriteBlobFile(directory_, Digest::Of(bytes), bytes).ok() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return Digest::Of(bytes);
  }
  bool IsThere(const Digest& digest) { return FileExists(BlobFilePath(directory_, digest)); }
  size_t Notes() { return ReadWriterNotes(directory_)->size(); }
};

TEST_F(UnadoptedTest, FilesOfAKilledProcessAreCountedAndGoAtOnce) {
  const Digest kept = Cook("kept", 2'000'000);
  const Digest left = LeaveFileOfTheDead('K');
  const StoreStats before = *store_->Stats();
  EXPECT_EQ(before.files, 1u);
  EXPECT_EQ(before.unadopted_files, 1u);
  EXPECT_EQ(before.unadopted_bytes, left.size_bytes());
  GcOptions dry = kNothingElse;
  dry.is_dry = true;
  EXPECT_EQ(Collect(dry).left_bytes, left.size_bytes());
  EXPECT_TRUE(IsThere(left));

  const GcReport report = Collect(kNothingElse);
  EXPECT_EQ(report.left_files, 1u);
  EXPECT_EQ(report.left_bytes, left.size_bytes());
  EXPECT_FALSE(IsThere(left));
  EXPECT_EQ(store_->Stats()->unadopted_files, 0u);
  EXPECT_TRUE(store_->Get(kept).ok());
  EXPECT_EQ(Notes(), 1u) << "its own";
  EXPECT_EQ(Collect(kNothingElse).left_files, 0u);
  EXPECT_EQ(Epoch(), 0u) << "nobody was told that it is there";
}

TEST_F(UnadoptedTest, NotesOfTheDeadGoWhenAllThatTheySayIsAdopted) {
  const Digest adopted = LeaveFileOfTheDead('A'), left = LeaveFileOfTheDead('B');
  ASSERT_TRUE(store_->Commit({.blobs = {{adopted, {}}}}).ok());
  EXPECT_EQ(Notes(), 2u);
  Open();
  ASSERT_EQ(Notes(), 1u);
  EXPECT_THAT(ReadWriterNotes(directory_)->front().files, ElementsAre(left));
}

TEST_F(UnadoptedTest, AFileThatAnOlderSessionMayKnowStays) {
  {
    const Session session = *Session::Begin(directory_, "a director");
    const Digest left = LeaveFileOfTheDead('K');
    boot_ = BootTime();
    EXPECT_EQ(Collect(kNothingElse).left_files, 0u) << "its report may be on its way";
    EXPECT_TRUE(IsThere(left));
  }
  EXPECT_EQ(Collect(kNothingElse).left_files, 1u);
}

TEST_F(UnadoptedTest, AFileThatIsOlderThanEverySessionGoesWhileTheyLive) {
  const Digest left = LeaveFileOfTheDead('Z');
  SetAge(BlobFilePath(directory_, left), absl::Hours(1));
  const Session session = *Session::Begin(directory_, "a director");
  EXPECT_EQ(Collect(kNothingElse).left_files, 1u);
  EXPECT_FALSE(IsThere(left));
}

TEST_F(UnadoptedTest, NothingYoungGoesWhileALivingProcessMayRelyOnMoreThanIsKnown) {
  const Digest left = LeaveFileOfTheDead('M');
  const std::string bytes = LargeBytes('P');
  ASSERT_TRUE(WriteBlobFile(directory_, Digest::Of(bytes), bytes).ok());  // this process has a note
  const std::vector<WriterNote> notes = *ReadWriterNotes(directory_);
  for (const WriterNote& note : notes) {
    if (note.is_live) std::ofstream(note.path, std::ios::app) << "half a li";
  }
  EXPECT_EQ(Collect(kNothingElse).left_files, 0u);
  SetAge(BlobFilePath(directory_, left), absl::Hours(25));
  EXPECT_EQ(Collect(kNothingElse).left_files, 1u);
}

TEST_F(UnadoptedTest, ANoteThatSomebodyDeletedIsMadeAgainWithAllThatItSaid) {
  const std::string first = LargeBytes('1'), second = LargeBytes('2');
  ASSERT_TRUE(WriteBlobFile(directory_, Digest::Of(first), first).ok());
  fs::remove_all(JoinPath(directory_, "writers"));
  std::ofstream(JoinPath(directory_, "writers")) << "somebody's";
  ASSERT_TRUE(WriteBlobFile(directory_, Digest::Of(second), second).ok());
  const auto notes = *ReadWriterNotes(directory_);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].files, testing::UnorderedElementsAre(Digest::Of(first), Digest::Of(second)));
}

TEST_F(UnadoptedTest, AFileOfALivingProcessStaysAndIsAdoptedOnDemand) {
  const std::string bytes = LargeBytes('L');
  const Digest digest = Digest::Of(bytes);
  ASSERT_TRUE(WriteBlobFile(directory_, digest, bytes).ok());
  SetAge(BlobFilePath(directory_, digest), absl::Hours(100));
  EXPECT_EQ(Collect(kNothingElse).left_files, 0u);
  ASSERT_TRUE(store_->Commit({.blobs = {{digest, {}}}}).ok());
  EXPECT_EQ(store_->Stats()->unadopted_files, 0u);
  EXPECT_TRUE(Has(digest));
}

TEST_F(UnadoptedTest, AFileWhoseWriterIsNotKnownGoesWhenItIsADayOld) {
  const Digest young = LeaveFile('Y', absl::Hours(23)), old = LeaveFile('O', absl::Hours(25));
  EXPECT_EQ(Collect(kNothingElse).left_files, 1u);
  EXPECT_TRUE(IsThere(young));
  EXPECT_FALSE(IsThere(old));
}

TEST_F(UnadoptedTest, AFileThatSomethingKeptNamesStays) {
  const Digest named = LeaveFile('N', absl::Hours(100));
  Publish("pc", {named});
  EXPECT_EQ(Collect(kNothingElse).left_files, 0u);
  EXPECT_TRUE(IsThere(named));
}

TEST_F(UnadoptedTest, NothingGoesWhileTheIndexMayNotKnowWhatASegmentSays) {
  const Digest left = LeaveFile('U', absl::Hours(100));
  Cook("in it", 100'000);
  store_.reset();
  std::fstream(SegmentPath(directory_, 1), std::ios::in | std::ios::out) << "damage";
  fs::remove_all(JoinPath(directory_, "index"));
  Open();
  EXPECT_EQ(Collect(kNothingElse).left_files, 0u);
  EXPECT_TRUE(IsThere(left));
}

TEST_F(UnadoptedTest, WhoFindsTheRightFileMakesItYoungAndWhoFindsAWrongOneReplacesIt) {
  const Digest left = LeaveFile('R', absl::Hours(100));
  const std::string path = BlobFilePath(directory_, left);
  ASSERT_TRUE(WriteBlobFile(directory_, left, LargeBytes('R')).ok());
  EXPECT_GT(absl::FromUnixNanos(StatFile(path)->mtime_ns), absl::Now() - absl::Hours(1));
  const uint64_t inode = StatFile(path)->inode;
  std::fstream(path, std::ios::in | std::ios::out) << "damage";
  ASSERT_TRUE(WriteBlobFile(directory_, left, LargeBytes('R')).ok());
  EXPECT_NE(StatFile(path)->inode, inode);
  EXPECT_TRUE(CheckBlobFile(directory_, left).ok());
}

TEST_F(UnadoptedTest, TemporaryFilesOfTheDeadAndThoseADayOldGo) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string tmp = TemporaryDirectory(directory_);
  const std::string dead = fmt::format("{}/{}.aaaaaa", tmp, child),
                    live = fmt::format("{}/{}.bbbbbb", tmp, ::getpid()),
                    stuck = fmt::format("{}/{}.cccccc", tmp, ::getpid()),
                    somebodys = JoinPath(tmp, "notes.txt");
  for (const std::string& path : {dead, live, stuck, somebodys})
    ASSERT_TRUE(WriteFileAtomic(path, "123").ok());
  SetAge(stuck, absl::Hours(25));
  SetAge(somebodys, absl::Hours(1000));
  EXPECT_EQ(store_->Stats()->temporary_files, 3u);
  EXPECT_EQ(store_->Stats()->temporary_bytes, 9u);
  EXPECT_EQ(Collect(kNothingElse).left_bytes, 6u);
  EXPECT_FALSE(FileExists(dead));
  EXPECT_TRUE(FileExists(live));
  EXPECT_FALSE(FileExists(stuck));
  EXPECT_TRUE(FileExists(somebodys));
}

TEST(WriterNoteTest, ALineThatIsCutOffOrChangedSaysNothing) {
  const Digest one = Digest::Of("one"), two = Digest::Of("two");
  const std::string first = "galley-writer 1\n";
  const std::string text = first + EncodeWritten(one) + EncodeWritten(two);
  EXPECT_THAT(DecodeWritten(text).files, testing::UnorderedElementsAre(one, two));
  EXPECT_TRUE(DecodeWritten(text).is_whole);
  EXPECT_FALSE(DecodeWritten(text + "more\n").is_whole);
  EXPECT_FALSE(DecodeWritten(text.substr(0, text.size() - 2)).is_whole);
  EXPECT_THAT(DecodeWritten(text.substr(0, text.size() - 2)).files, ElementsAre(one));
  std::string changed = text;
  changed[first.size() + 3] ^= 1;
  EXPECT_THAT(DecodeWritten(changed).files, ElementsAre(two));
  EXPECT_THAT(DecodeWritten("galley-writer 2\n" + EncodeWritten(one)).files, IsEmpty());
  EXPECT_THAT(DecodeWritten("").files, IsEmpty());
}

}  // namespace
}  // namespace galley::store
