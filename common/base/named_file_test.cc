#include "common/base/named_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/temporary_folder.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NamedFileTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return JoinPath(folder_.path(), name); }
  static std::string TypeOf(const std::string& path) {
    struct stat stat {};
    if (::lstat(path.c_str(), &stat) != 0) return "absent";
    return S_ISREG(stat.st_mode)    ? "file"
           : S_ISFIFO(stat.st_mode) ? "fifo"
           : S_ISLNK(stat.st_mode)  ? "link"
           : S_ISCHR(stat.st_mode)  ? "device"
                                    : "other";
  }
  size_t Count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_ = TemporaryFolder::Make(::testing::TempDir(), "named-file-").value();
};

TEST_F(NamedFileTest, AFileIsMadeAndReplacedWhole) {
  ASSERT_TRUE(WriteNamedFile(Path("a"), "one").ok());
  const FileDescriptor reader(::open(Path("a").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(WriteNamedFile(Path("a"), "two").ok());
  EXPECT_EQ(ReadFile(Path("a")).value(), "two");
  char old[8] = {};
  EXPECT_EQ(::read(reader.get(), old, sizeof old), 3);
  EXPECT_STREQ(old, "one");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(NamedFileTest, WhatIsNotCompletedIsRemoved) {
  ASSERT_TRUE(WriteNamedFile(Path("a"), "one").ok());
  { ASSERT_TRUE(NamedFile::Open(Path("a")).ok()); }
  EXPECT_EQ(ReadFile(Path("a")).value(), "one");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(NamedFileTest, ALinkStaysAndTheFileAtItsEndIsReplaced) {
  fs::create_directories(Path("deep"));
  ASSERT_TRUE(WriteFileAtomic(Path("deep/file"), "old").ok());
  fs::create_symlink("deep/file", Path("near"));
  fs::create_symlink(Path("near"), Path("far"));
  fs::create_symlink("deep", Path("folder"));
  for (const char* name : {"near", "far", "folder/file"}) {
    ASSERT_TRUE(WriteNamedFile(Path(name), name).ok());
    EXPECT_EQ(ReadFile(Path("deep/file")).value(), name);
  }
  EXPECT_EQ(TypeOf(Path("near")), "link");
  EXPECT_EQ(TypeOf(Path("far")), "link");
  EXPECT_EQ(TypeOf(Path("deep/file")), "file");
}

TEST_F(NamedFileTest, AtTheEndOfALinkToNothingAFileIsMade) {
  fs::create_symlink("made", Path("link"));
  ASSERT_TRUE(WriteNamedFile(Path("link"), "x").ok());
  EXPECT_EQ(TypeOf(Path("link")), "link");
  EXPECT_EQ(ReadFile(Path("made")).value(), "x");
  fs::create_symlink("nowhere/made", Path("lost"));
  EXPECT_TRUE(absl::IsNotFound(WriteNamedFile(Path("lost"), "x")));
  fs::create_symlink("round", Path("round"));
  EXPECT_THAT(std::string(WriteNamedFile(Path("round"), "x").message()), HasSubstr("round"));
  EXPECT_EQ(TypeOf(Path("round")), "link");
}

TEST_F(NamedFileTest, ADeviceStaysOne) {
  ASSERT_TRUE(WriteNamedFile("/dev/null", "x").ok());
  EXPECT_EQ(TypeOf("/dev/null"), "device");
  fs::create_symlink("/dev/null", Path("link"));
  ASSERT_TRUE(WriteNamedFile(Path("link"), "x").ok());
  EXPECT_EQ(TypeOf(Path("link")), "link");
  EXPECT_TRUE(absl::IsResourceExhausted(WriteNamedFile("/dev/full", "x")));
}

TEST_F(NamedFileTest, AFifoIsWrittenIntoAndOneThatNobodyReadsIsAnError) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  {
    const FileDescriptor reader(::open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(WriteNamedFile(Path("fifo"), "bytes").ok());
    char bytes[8] = {};
    EXPECT_EQ(::read(reader.get(), bytes, sizeof bytes), 5);
    EXPECT_STREQ(bytes, "bytes");
  }
  EXPECT_THAT(std::string(WriteNamedFile(Path("fifo"), "bytes").message()),
              HasSubstr("a FIFO that nobody reads"));
  EXPECT_EQ(TypeOf(Path("fifo")), "fifo");
}

// A pipe, a socket, and a file that is continued where it is.
TEST_F(NamedFileTest, AnOpenFileOfThisProcessIsWrittenInto) {
  int pipe[2] = {};
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  int sockets[2] = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const std::vector<std::pair<int, int>> ends = {{pipe[0], pipe[1]}, {sockets[0], sockets[1]}};
  for (const auto& [reads, writes] : ends) {
    for (const char* folder : {"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"}) {
      ASSERT_TRUE(WriteNamedFile(fmt::format("{}/{}", folder, writes), "x").ok()) << folder;
      char byte = 0;
      EXPECT_EQ(::read(reads, &byte, 1), 1);
    }
    ::close(reads);
    ::close(writes);
  }
  const FileDescriptor file(::open(Path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteAll(file.get(), "one ", "").ok());
  fs::create_symlink(fmt::format("/proc/self/fd/{}", file.get()), Path("link"));
  ASSERT_TRUE(WriteNamedFile(Path("link"), "two ").ok());
  ASSERT_TRUE(WriteAll(file.get(), "three", "").ok());
  EXPECT_EQ(ReadFile(Path("log")).value(), "one two three");
  EXPECT_FALSE(WriteNamedFile("/proc/self/fd/987654", "x").ok());
}

TEST_F(NamedFileTest, FoldersAndSocketsAreRefused) {
  EXPECT_EQ(WriteNamedFile(folder_.path(), "x").message(),
            fmt::format("{} is a folder, which cannot be written to: name a file",
                        fs::canonical(folder_.path()).string()));
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(Path("s").size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, Path("s").c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(std::string(WriteNamedFile(Path("s"), "x").message()), HasSubstr("is a socket"));
}

}  // namespace
}  // namespace galley
