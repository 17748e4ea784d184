#include "director/shell/content_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/base/real_path.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ContentWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = *MakeTemporaryDirectory(RealPath(testing::TempDir()), "content-watch-");
    Write("content/a.obj", "a");
    Write("content/sub/s.dat", "s");
    Write("content/old.tmp", "ignored");
    Write("content/.galley/state/x", "");
    auto world = std::make_shared<World>();
    auto scanned =
        content::Snapshot::Scan({.mounts = {{.path = "/Game", .directory = root_ + "/content"}},
                                 .ignore = {"*.tmp"},
                                 .excluded_directories = {root_ + "/content/.galley"}});
    ASSERT_TRUE(scanned.ok()) << scanned.status();
    world->snapshot = *std::move(scanned);
    auto watch = ContentWatch::Begin(
        world, {.cookie_folder = root_ + "/cookies", .excluded = {root_ + "/content/.galley"}});
    if (!watch.ok()) GTEST_SKIP() << watch.status();
    watch_ = *std::move(watch);
  }
  void TearDown() override { RemoveAll(root_).IgnoreError(); }
  void Write(const std::string& path, const std::string& bytes) {
    const std::string file = root_ + "/" + path;
    ASSERT_TRUE(CreateDirectories(file.substr(0, file.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  }
  // Returns texts such as "/Game/a.obj changed".
  std::vector<std::string> Changes() {
    const auto changes = watch_->Look();
    EXPECT_TRUE(changes.ok()) << changes.status();
    std::vector<std::string> texts;
    for (const ContentChange& one : *changes) texts.push_back(one.path + " " + one.what);
    return texts;
  }

  std::string root_;
  std::unique_ptr<ContentWatch> watch_;
};

TEST_F(ContentWatchTest, WhereNothingHappensThereIsNothing) { EXPECT_THAT(Changes(), IsEmpty()); }

TEST_F(ContentWatchTest, FilesThatChangeComeAndGoAreNamed) {
  Write("content/a.obj", "other");
  Write("content/new.obj", "n");
  ::unlink((root_ + "/content/sub/s.dat").c_str());
  ::mkdir((root_ + "/content/sub/folder").c_str(), 0755);
  const std::vector<std::string> expected = {"/Game/a.obj changed", "/Game/new.obj is new",
                                             // The file was there before, as its time tells.
                                             "/Game/old.tmp is new", "/Game/sub/folder is new",
                                             "/Game/sub/s.dat is gone"};
  EXPECT_EQ(Changes(), expected);
  EXPECT_EQ(Changes(), expected);  // the next cook, which runs beside the first one, asks as well
}

TEST_F(ContentWatchTest, RightsAndTimesAreChangesToo) {
  ::chmod((root_ + "/content/sub/s.dat").c_str(), 0600);
  EXPECT_THAT(Changes(), ElementsAre("/Game/sub/s.dat changed"));
}

TEST_F(ContentWatchTest, GalleysOwnFoldersAreNoContent) {
  Write("content/.galley/state/y", "");
  ::chmod((root_ + "/content/.galley").c_str(), 0700);
  for (const std::string& text : Changes()) EXPECT_EQ(text.find(".galley"), std::string::npos);
}

}  // namespace
}  // namespace galley::director
