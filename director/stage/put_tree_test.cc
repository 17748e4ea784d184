// PutTreeTest: PutTree, over a real store.
#include "director/stage/put_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "common/base/file.h"
#include "common/base/testing/manual_clock.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/tree/tree.h"
#include "director/stage/checkout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PutTreeTest : public testing::Test {
 protected:
  PutTreeTest() : home_(*MakeTemporaryDirectory(testing::TempDir(), "put-")) {
    Open();
    // Long after the test wrote its files, so that digests are kept.
    SetClock(absl::Now() + absl::Hours(1));
  }
  ~PutTreeTest() override {
    store_.reset();
    static_cast<void>(RemoveAll(home_));
  }

  void SetClock(absl::Time now) { clock_.Advance(now - clock_.Now()); }
  void Open() {
    store_.reset();
    store_ = *store::OpenLocalStore(home_ + "/store");
  }
  std::string Write(const std::string& path, const std::string& bytes, mode_t mode = 0644) {
    const std::string file = home_ + "/in/" + path;
    fs::create_directories(fs::path(file).parent_path());
    EXPECT_TRUE(WriteFileAtomic(file, bytes).ok());
    EXPECT_EQ(::chmod(file.c_str(), mode), 0);
    return file;
  }
  absl::StatusOr<PutTreeReport> Put(const std::string& path = "in") {
    return PutTree(*store_, {.path = home_ + "/" + path,
                             .digest_cache_file = home_ + "/digests/in",
                             .threads = 2,
                             .clock = &clock_,
                             .on_progress = on_progress_});
  }
  std::vector<tree::TreeFile> FilesOf(const Digest& root) {
    return *tree::ListTree(root, [&](const Digest& digest) { return store_->Get(digest); });
  }
  static std::string Random(size_t size, uint32_t seed) {
    std::string bytes(size, 0);
    for (char& c : bytes) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
    return bytes;
  }

  const std::string home_;
  ManualClock clock_;
  std::unique_ptr<store::StoreDirectory> store_;
  std::function<bool(const PutTreeProgress&)> on_progress_;
};

TEST_F(PutTreeTest, CheckoutGivesBackWhatWasPut) {
  Write("a.txt", "a");
  Write("empty", "");
  Write("bin/tool", "#!/bin/sh", 0755);
  Write(".git/config", "also what no cook looks at");
  Write("deep/er/large", Random(1'500'000, 1));
  Write("deep/er/huge", Random(20'000'000, 2));
  Write("deep/er/same", Random(1'500'000, 1));
  const auto report = Put();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->errors, IsEmpty());
  ASSERT_TRUE(report->root.has_value());
  EXPECT_EQ(report->files, 7u);
  EXPECT_EQ(report->read_bytes, report->bytes);
  Open();  // what was put is the store's for good
  const auto out = Checkout(*store_, *report->root, home_ + "/out");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->written, 7u);
  for (const char* name : {"a.txt", "empty", "bin/tool", ".git/config", "deep/er/large",
                           "deep/er/huge", "deep/er/same"}) {
    EXPECT_TRUE(*ReadFile(home_ + "/out/" + name) == *ReadFile(home_ + "/in/" + name)) << name;
    EXPECT_EQ(StatFile(home_ + "/out/" + name)->mode & S_IXUSR,
              StatFile(home_ + "/in/" + name)->mode & S_IXUSR);
  }
}

TEST_F(PutTreeTest, ManyFilesOfManyFoldersAreStoredOnceEach) {
  for (int i = 0; i < 1200; ++i)
    Write("d" + std::to_string(i % 7) + "/" + std::to_string(i), Random(3000, i % 900 + 1));
  const auto report = Put();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->files, 1200u);
  EXPECT_EQ(report->stored_blobs, 900u + 8);  // files, and folders
  EXPECT_EQ(FilesOf(*report->root).size(), 1200u);
  EXPECT_EQ(store_->Stats()->blobs, 908u);
  EXPECT_THAT(store_->Verify()->problems, IsEmpty());
}

TEST_F(PutTreeTest, AFileBecomesATreeOfOne) {
  Write("only", "bytes", 0755);
  const auto report = Put("in/only");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(FilesOf(*report->root),
              ElementsAre(tree::TreeFile{"only", Digest::Of("bytes"), true}));
}

TEST_F(PutTreeTest, AnEmptyFolderHasTheRootOfNoFiles) {
  fs::create_directories(home_ + "/in/empty");
  const auto report = Put();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->root, Digest());
  EXPECT_EQ(Checkout(*store_, *report->root, home_ + "/out")->written, 0u);
}

TEST_F(PutTreeTest, WhatDidNotChangeIsNotReadAgain) {
  Write("a", "first");
  Write("b", Random(2'000'000, 3));
  const auto first = Put();
  ASSERT_TRUE(first.ok());
  const auto again = Put();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->read_files, 0u);
  EXPECT_EQ(again->stored_blobs, 0u);
  EXPECT_EQ(again->root, first->root);
  Write("a", "second");
  const auto changed = Put();
  EXPECT_EQ(changed->read_files, 1u);
  EXPECT_NE(changed->root, first->root);
}

TEST_F(PutTreeTest, AFileThatMayHaveChangedUnseenIsReadAgain) {
  SetClock(absl::Now());  // within two seconds of its time stamps
  Write("a", "first");
  ASSERT_TRUE(Put().ok());
  EXPECT_EQ(Put()->read_files, 1u);
}

TEST_F(PutTreeTest, WhatTheStoreLostIsReadAgain) {
  Write("a", "first");
  Write("b", "second");
  const auto first = Put();
  ASSERT_TRUE(first.ok());
  store_.reset();
  fs::remove_all(home_ + "/store");
  Open();
  const auto again = Put();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->read_files, 2u);
  EXPECT_EQ(again->root, first->root);
  EXPECT_EQ(FilesOf(*again->root).size(), 2u);
}

TEST_F(PutTreeTest, OddFilesAreToldAndTheRestIsPut) {
  Write("good", "good");
  Write("other/bad\xff", "1");
  Write("other/back\\slash", "2");
  fs::create_symlink("good", home_ + "/in/link");
  ASSERT_EQ(::mkfifo((home_ + "/in/pipe").c_str(), 0644), 0);
  const auto report = Put();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->root, std::nullopt);
  EXPECT_THAT(report->errors,
              ElementsAre(HasSubstr("in/link is a link"), HasSubstr("has a backslash"),
                          HasSubstr("is not valid UTF-8"), HasSubstr("in/pipe is a pipe")));
  EXPECT_THAT(*store_->FindMissing(std::vector{Digest::Of("good")}), IsEmpty());
}

TEST_F(PutTreeTest, NamesThatDifferInCaseOnlyAreTold) {
  Write("a", "1");
  Write("A", "2");
  const auto report = Put();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->root, std::nullopt);
  EXPECT_THAT(report->errors, ElementsAre(HasSubstr("differ in case or Unicode form only")));
}

// While the first thread reads a file, another file changes that it has not reached.
TEST_F(PutTreeTest, AFileThatChangesMeanwhileIsToldAndNotStoredWrong) {
  for (int i = 0; i < 40; ++i) Write(std::to_string(100 + i), "was " + std::to_string(i));
  bool is_changed = false;
  on_progress_ = [&](const PutTreeProgress& progress) {
    // The files have been looked at by now.
    if (progress.files_total == 40 && !std::exchange(is_changed, true))
      Write("139", "is something else and longer");
    return true;
  };
  const auto report = Put();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->root, std::nullopt);
  EXPECT_THAT(report->errors, ElementsAre(HasSubstr("139 changed since it was scanned")));
  on_progress_ = nullptr;
  const auto again = Put();
  EXPECT_EQ(FilesOf(*again->root).back().digest, Digest::Of("is something else and longer"));
}

TEST_F(PutTreeTest, AnInterruptedPutSaysSo) {
  Write("a", "1");
  on_progress_ = [](const PutTreeProgress&) { return false; };
  EXPECT_EQ(Put().status().code(), absl::StatusCode::kCancelled);
}

// An interrupt before the put begins, among small files, and in the middle of a large file.
TEST_F(PutTreeTest, AnInterruptIsNoticedWhereverThePutIs) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1} << 20, size_t{20} << 20}) {
    Cancellation stop;
    Write("a", std::string(std::max<size_t>(size, 1), static_cast<char>('a' + size % 7)));
    if (size == 0) stop.Cancel();
    bool is_read = false;
    const auto report = PutTree(*store_, {.path = home_ + "/in",
                                          .clock = &clock_,
                                          .on_progress =
                                              [&](const PutTreeProgress& progress) {
                                                is_read = progress.files_total == 1;
                                                stop.Cancel();
                                                return true;
                                              },
                                          .stop = &stop});
    EXPECT_TRUE(absl::IsCancelled(report.status())) << size << report.status();
    EXPECT_THAT(report.status().message(), HasSubstr("what is in the store stays for a day"));
    EXPECT_EQ(is_read, size != 0);
    EXPECT_EQ(store_->Stats()->blobs, 0u) << size;
  }
  EXPECT_TRUE(Put().ok());
}

TEST_F(PutTreeTest, TheStoreItselfIsNotPut) {
  Write("a", "1");
  const auto report = PutTree(*store_, {.path = home_, .digest_cache_file = "", .clock = &clock_});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(report.status()), HasSubstr("holds the store itself"));
}

TEST_F(PutTreeTest, WhatWasCutOffIsNotPutAsIfItWereWhole) {
  Write("a", "text");
  for (const std::string mark : {".galley-checkout", "deep/.galley-checkout",
                                 ".galley-root.pending", ".galley-apply/new/a"}) {
    const std::string file = Write(mark, "");
    const auto put = Put();
    EXPECT_TRUE(absl::IsInvalidArgument(put.status())) << put.status();
    EXPECT_THAT(put.status().message(), HasSubstr(file));
    fs::remove_all(home_ + "/in/" + mark.substr(0, mark.find('/')));
    EXPECT_TRUE(Put().ok());
    EXPECT_EQ(store_->Stats()->blobs, 2u) << "the file and its folder: nothing was put before";
    store_.reset();
    fs::remove_all(home_ + "/store");
    Open();
  }
}

TEST_F(PutTreeTest, NamesThatAreOnlyLikeTheMarksArePut) {
  Write(".galley-checkout.txt", "a");
  Write("a.galley-apply/b", "b");
  EXPECT_EQ(FilesOf(*Put()->root).size(), 2u);
}

TEST_F(PutTreeTest, NoFolderNoTree) {
  EXPECT_EQ(Put("absent").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(PutTree(*store_, {.path = "/dev/null"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace galley::director
