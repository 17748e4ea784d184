#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/vfs/disk.h"
#include "gtest/gtest.h"

namespace {

std::atomic<int> flock_error = 0;  // 0: the system's flock is called

}  // namespace

// Stands before the one of the C library: a file system without locks.
extern "C" int flock(int descriptor, int operation) {
  if (const int error = flock_error; error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace galley::vfs {
namespace {

class DiskPosixTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "galley_disk_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    flock_error = 0;
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& path, const std::string& bytes) {
    const auto file = disk_.OpenToAppend(path);
    ASSERT_TRUE(file.ok());
    ASSERT_FALSE((*file)->Append(bytes));
  }
  // The outcomes of opening it to read, and to append.
  int ReadCode(const std::string& path) {
    const auto file = disk_.OpenToRead(path);
    return file.ok() ? GALLEY_VFS_OK : file.fault().code;
  }
  int AppendCode(const std::string& path) {
    const auto file = disk_.OpenToAppend(path);
    return file.ok() ? GALLEY_VFS_OK : file.fault().code;
  }

  std::string folder_;
  Disk& disk_ = SystemDisk();
};

TEST_F(DiskPosixTest, NothingButAFileIsOpened) {
  Write(folder_ + "/file", "bytes");
  const std::string link = folder_ + "/link", pipe = folder_ + "/pipe", sub = folder_ + "/folder";
  ASSERT_EQ(::symlink((folder_ + "/file").c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(sub.c_str(), 0700), 0);
  EXPECT_EQ(ReadCode(folder_ + "/none"), GALLEY_VFS_ABSENT);
  EXPECT_EQ(ReadCode(folder_ + "/file"), GALLEY_VFS_OK);
  for (const std::string& path : {link, pipe, sub}) {
    EXPECT_EQ(ReadCode(path), kNotAFile) << path;
    EXPECT_EQ(AppendCode(path), kNotAFile) << path;
    EXPECT_EQ(disk_.Look(path)->is_other, path != sub);
    EXPECT_FALSE(disk_.Remove(path)) << "it can be removed";
    EXPECT_EQ(ReadCode(path), GALLEY_VFS_ABSENT) << path;
  }
  EXPECT_EQ(ReadCode(folder_ + "/file"), GALLEY_VFS_OK) << "the link's target stays";
}

TEST_F(DiskPosixTest, AFolderWithEntriesIsNotRemoved) {
  ASSERT_FALSE(disk_.MakeFolder(folder_ + "/a/b"));
  const Outcome failed = disk_.Remove(folder_ + "/a");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, GALLEY_VFS_IO);
}

TEST_F(DiskPosixTest, AFileInPlaceOfAFolderIsNamed) {
  Write(folder_ + "/file", "bytes");
  for (const char* path : {"/file", "/file/below"}) {
    const Outcome failed = disk_.MakeFolder(folder_ + path);
    ASSERT_TRUE(failed) << path;
    EXPECT_EQ(failed->code, GALLEY_VFS_IO);
    EXPECT_NE(failed->text.find("remove it"), std::string::npos) << failed->text;
  }
}

TEST_F(DiskPosixTest, AFileIsLockedOnceAlsoWhereTheFileSystemKnowsNoLocks) {
  for (const int error : {0, ENOLCK, ENOTSUP, ENOSYS, EINVAL}) {
    flock_error = error;
    const auto one = disk_.OpenToAppend(folder_ + "/file");
    const auto two = disk_.OpenToAppend(folder_ + "/file");
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_TRUE((*one)->Lock()) << error;
    EXPECT_TRUE((*one)->Lock()) << "it is its own";
    EXPECT_FALSE((*two)->Lock()) << error;
  }
  const auto again = disk_.OpenToAppend(folder_ + "/file");
  EXPECT_TRUE(again.ok() && (*again)->Lock()) << "whoever closes a file lets it go";
}

}  // namespace
}  // namespace galley::vfs
