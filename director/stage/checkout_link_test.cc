// CheckoutLinkTest: `checkout --link`, over a real store.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/racy.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "director/stage/checkout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;

std::string Large(char fill) { return std::string(1'500'000, fill); }

// Clones as a file system does: a later write to one file is not seen in the other.
int CloneByCopy(int to, int from) {
  std::string buffer(1 << 20, '\0');
  for (ssize_t at = 0, count = 0;; at += count) {
    count = ::pread(from, buffer.data(), buffer.size(), at);
    if (count <= 0) return static_cast<int>(count);
    if (::write(to, buffer.data(), static_cast<size_t>(count)) != count) return -1;
  }
}
int NoClone(int, int) { return -1; }

class CheckoutLinkTest : public testing::Test {
 protected:
  CheckoutLinkTest()
      : home_(*MakeTemporaryDirectory(testing::TempDir(), "link-")),
        store_(*store::OpenLocalStore(home_ + "/store")) {}
  ~CheckoutLinkTest() override {
    store_.reset();
    static_cast<void>(RemoveAll(home_));
  }

  struct File {
    std::string bytes;
    bool is_executable = false;
  };
  Digest Put(const std::map<std::string, File>& files) {
    std::vector<tree::TreeFile> list;
    for (const auto& [path, file] : files) {
      const Digest digest = Digest::Of(file.bytes);
      EXPECT_TRUE(store_->Put(digest, file.bytes).ok());
      list.push_back({path, digest, file.is_executable});
    }
    const auto built =
        tree::BuildTree(list, [](std::string_view name) { return std::string(name); });
    for (const auto& [digest, bytes] : built.directories)
      EXPECT_TRUE(store_->Put(digest, bytes).ok());
    EXPECT_TRUE(store_->Commit({}).ok());
    return built.root;
  }

  absl::StatusOr<StageReport> CheckOut(const Digest& root, const std::string& name,
                                       Sandbox::CloneFunction clone = NoClone) {
    return Checkout(*store_, root, home_ + "/" + name,
                    {.link = true, .verified = &verified_, .clone = clone});
  }

  std::string InStore(const std::string& bytes) const {
    return store::BlobFilePath(home_ + "/store", Digest::Of(bytes));
  }
  FileStat StatOf(const std::string& name) const { return *StatFile(home_ + "/" + name, false); }
  std::string Read(const std::string& name) const { return *ReadFile(home_ + "/" + name); }

  const std::string home_;
  std::unique_ptr<store::Store> store_;
  VerifiedFiles verified_;
};

TEST_F(CheckoutLinkTest, LargeFilesAreTheStoresAndReadOnlyOthersAreCopied) {
  const Digest root = Put({{"d/large", {Large('a')}},
                           {"again", {Large('a')}},
                           {"small", {"small"}},
                           {"empty", {""}},
                           {"tool", {Large('t'), true}}});
  const auto report = CheckOut(root, "out");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->written, 5u);
  EXPECT_EQ(report->linked, 2u);
  EXPECT_EQ(report->cloned, 0u);
  EXPECT_EQ(report->bytes_written, 5u + Large('t').size());
  const FileStat in_store = *StatFile(InStore(Large('a')), false);
  for (const char* name : {"out/d/large", "out/again"}) {
    EXPECT_EQ(StatOf(name).inode, in_store.inode);
    EXPECT_EQ(StatOf(name).mode & 0777, 0444u);
    EXPECT_EQ(Read(name), Large('a'));
  }
  EXPECT_EQ(StatOf("out/tool").mode & 0777, 0755u);
  EXPECT_NE(StatOf("out/tool").inode, StatFile(InStore(Large('t')), false)->inode);
  EXPECT_EQ(Read("out/tool"), Large('t'));
  EXPECT_EQ(StatOf("out/small").mode & 0777, 0644u);
  // The store's file stays when another name of it is removed.
  fs::remove_all(home_ + "/out");
  EXPECT_EQ(**store_->Get(Digest::Of(Large('a'))), Large('a'));
}

TEST_F(CheckoutLinkTest, WithoutTheOptionNothingIsShared) {
  const Digest root = Put({{"large", {Large('a')}}});
  const auto report = Checkout(*store_, root, home_ + "/out");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->linked + report->cloned, 0u);
  EXPECT_NE(StatOf("out/large").inode, StatFile(InStore(Large('a')), false)->inode);
  EXPECT_EQ(StatOf("out/large").mode & 0777, 0644u);
}

TEST_F(CheckoutLinkTest, WhatCannotBeLinkedIsCloned) {
  const Digest root = Put({{"tool", {Large('t'), true}}});
  const auto report = CheckOut(root, "out", CloneByCopy);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->cloned, 1u);
  EXPECT_EQ(report->bytes_written, 0u);
  EXPECT_EQ(StatOf("out/tool").mode & 0777, 0755u);
  EXPECT_EQ(Read("out/tool"), Large('t'));
}

// Another file system refuses the link, as does a file at the limit of its names.
TEST_F(CheckoutLinkTest, OnAnotherFileSystemItIsCopied) {
  const std::string shm = "/dev/shm";
  const auto here = StatFile(home_), there = StatFile(shm);
  if (!there.ok() || here->device == there->device || ::access(shm.c_str(), W_OK) != 0)
    GTEST_SKIP() << "no second file system at /dev/shm";
  const std::string folder = *MakeTemporaryDirectory(shm, "galley-link-");
  const Digest root = Put({{"large", {Large('a')}}});
  const auto report = Checkout(*store_, root, folder, {.link = true});
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->linked, 0u);
  EXPECT_EQ(*ReadFile(folder + "/large"), Large('a'));
  EXPECT_TRUE(RemoveAll(folder).ok());
}

TEST_F(CheckoutLinkTest, WrongBytesGetNoName) {
  const Digest root = Put({{"large", {Large('a')}}});
  std::string wrong = Large('a');
  wrong[7] = 'b';
  ASSERT_EQ(::chmod(InStore(Large('a')).c_str(), 0644), 0);
  const int file = ::open(InStore(Large('a')).c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, wrong.data(), wrong.size(), 0), static_cast<ssize_t>(wrong.size()));
  ::close(file);
  const auto report = CheckOut(root, "out");
  EXPECT_EQ(report.status().code(), absl::StatusCode::kDataLoss) << report.status();
  EXPECT_FALSE(FileExists(home_ + "/out/large"));
}

// A file that was touched since it was verified is not believed.
TEST_F(CheckoutLinkTest, ARememberedFileThatWasTouchedIsVerifiedAgain) {
  const Digest root = Put({{"large", {Large('a')}}});
  ASSERT_TRUE(CheckOut(root, "out").ok());
  ASSERT_TRUE(CheckOut(root, "out2").ok());
  EXPECT_TRUE(verified_.Holds(Digest::Of(Large('a')), *StatFile(InStore(Large('a')), false)));
  // Written in place, with its times put back: the change time tells.
  const FileStat before = StatOf("out/large");
  ASSERT_EQ(::chmod((home_ + "/out/large").c_str(), 0644), 0);
  const int file = ::open((home_ + "/out/large").c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "b", 1, 7), 1);
  const timespec time{before.mtime_ns / 1'000'000'000, before.mtime_ns % 1'000'000'000};
  const timespec times[2] = {time, time};
  ASSERT_EQ(::futimens(file, times), 0);
  ASSERT_EQ(::fchmod(file, 0444), 0);
  ::close(file);
  EXPECT_EQ(CheckOut(root, "out3").status().code(), absl::StatusCode::kDataLoss);
}

// Saves and loads the memory, as the next process does.
TEST_F(CheckoutLinkTest, WhatAnotherProcessVerifiedIsNotReadAgainUnlessItWasTouched) {
  const Digest root = Put({{"large", {Large('a')}}});
  const Digest digest = Digest::Of(Large('a'));
  const std::string memory = home_ + "/kept/verified";
  const int64_t later_ns = absl::GetCurrentTimeNanos() + 10 * kRacyWindowNanos;
  ASSERT_TRUE(CheckOut(root, "out").ok());
  // The file was written a moment ago: a write in the same tick would not show.
  ASSERT_TRUE(verified_.Save(memory, absl::GetCurrentTimeNanos()).ok());
  EXPECT_FALSE(FileExists(memory));
  ASSERT_TRUE(verified_.Save(memory, later_ns).ok());
  {
    VerifiedFiles next;
    next.Load(memory);
    EXPECT_TRUE(next.Holds(digest, *StatFile(InStore(Large('a')), false)));
    ASSERT_TRUE(Checkout(*store_, root, home_ + "/out2", {.link = true, .verified = &next}).ok());
    ASSERT_TRUE(next.Save(memory, later_ns).ok());
  }
  VerifiedFiles third;
  third.Load(memory);
  EXPECT_TRUE(third.Holds(digest, *StatFile(InStore(Large('a')), false)));
  ASSERT_EQ(::chmod((home_ + "/out/large").c_str(), 0644), 0);
  const int file = ::open((home_ + "/out/large").c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "b", 1, 7), 1);
  ASSERT_EQ(::fchmod(file, 0444), 0);
  ::close(file);
  EXPECT_FALSE(third.Holds(digest, *StatFile(InStore(Large('a')), false)));
  EXPECT_EQ(
      Checkout(*store_, root, home_ + "/out3", {.link = true, .verified = &third}).status().code(),
      absl::StatusCode::kDataLoss);
}

TEST_F(CheckoutLinkTest, ADamagedMemoryIsNone) {
  ASSERT_TRUE(WriteFileAtomic(home_ + "/verified", "damaged").ok());
  verified_.Load(home_ + "/verified");
  const Digest root = Put({{"large", {Large('a')}}});
  EXPECT_EQ(CheckOut(root, "out")->linked, 1u);
}

TEST_F(CheckoutLinkTest, AFileThatIsRememberedIsNotReadAgain) {
  const Digest root = Put({{"large", {Large('a')}}});
  ASSERT_TRUE(CheckOut(root, "out").ok());
  // The bytes are wrong, and the file system shows no sign of that in the memory.
  const std::string path = InStore(Large('a'));
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const int file = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "b", 1, 7), 1);
  ASSERT_EQ(::fchmod(file, 0444), 0);
  ::close(file);
  verified_.Note(Digest::Of(Large('a')), *StatFile(path, false));
  const auto report = CheckOut(root, "out2");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->linked, 1u);
}

}  // namespace
}  // namespace galley::director
