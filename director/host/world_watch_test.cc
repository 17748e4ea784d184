#include "director/host/world_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/content/testing/test_tree.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorldWatchTest : public content::ContentTest {
 protected:
  void SetUp() override {
    content::ContentTest::SetUp();
    options_.ignore = {"*.tmp"};
    options_.excluded_directories = {Host("content/out")};
    Save("content/a.txt");
    Save("content/maps/b.txt");
    Save("content/out/c.txt");
  }
  void Begin() {
    auto watch = WorldWatch::Begin(options_, Host("cookies"));
    ASSERT_TRUE(watch.ok()) << watch.status();
    watch_ = *std::move(watch);
    EXPECT_THAT(Taken(), IsEmpty());
  }
  // Writes the file in its place, as an editor does that makes no other file.
  void Save(const std::string& path) {
    const std::string host = Host(path);
    ASSERT_TRUE(CreateDirectories(host.substr(0, host.rfind('/'))).ok());
    const FileDescriptor file = OpenToWrite(path);
    ASSERT_EQ(::write(file.get(), "x", 1), 1);
  }
  FileDescriptor OpenToWrite(const std::string& path) {
    return FileDescriptor(
        ::open(Host(path).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  }
  std::vector<std::string> Taken() {
    const auto taken = watch_->Take(now_);
    EXPECT_TRUE(taken.has_value());
    return taken.value_or(std::vector<std::string>());
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  std::unique_ptr<WorldWatch> watch_;
};

TEST_F(WorldWatchTest, FilesThatChangeComeOrGoAreNamedOnce) {
  Begin();
  Save("content/a.txt");
  Save("content/maps/new.txt");
  ASSERT_EQ(::unlink(Host("content/maps/b.txt").c_str()), 0);
  EXPECT_TRUE(watch_->Wait(now_, absl::Seconds(30)));
  EXPECT_THAT(Taken(), ElementsAre("/Game/a.txt", "/Game/maps/b.txt", "/Game/maps/new.txt"));
  EXPECT_FALSE(watch_->Wait(now_, absl::ZeroDuration()));
  EXPECT_THAT(Taken(), IsEmpty());
}

TEST_F(WorldWatchTest, ANewFolderIsWatchedWithAllBelow) {
  Begin();
  Save("content/new/deep/a.txt");
  EXPECT_THAT(Taken(), ElementsAre("/Game/new"));
  Save("content/new/deep/a.txt");
  EXPECT_THAT(Taken(), ElementsAre("/Game/new/deep/a.txt"));
}

TEST_F(WorldWatchTest, AFolderThatIsMovedIsNamedAtBothPlaces) {
  Begin();
  ASSERT_EQ(std::rename(Host("content/maps").c_str(), Host("content/levels").c_str()), 0);
  EXPECT_THAT(Taken(), ElementsAre("/Game/levels", "/Game/maps"));
  Save("content/levels/b.txt");
  EXPECT_THAT(Taken(), ElementsAre("/Game/levels/b.txt"));
}

TEST_F(WorldWatchTest, AFileThatIsBeingWrittenWaitsForQuiet) {
  Begin();
  const FileDescriptor file = OpenToWrite("content/a.txt");
  ASSERT_EQ(::write(file.get(), "x", 1), 1);
  EXPECT_THAT(Taken(), IsEmpty());
  now_ += WorldWatch::kWriteQuiet / 2;
  ASSERT_EQ(::write(file.get(), "x", 1), 1);
  EXPECT_THAT(Taken(), IsEmpty());
  now_ += WorldWatch::kWriteQuiet / 2;
  EXPECT_THAT(Taken(), IsEmpty()) << "somebody wrote since";
  EXPECT_TRUE(watch_->Wait(now_, absl::Seconds(30))) << "its time comes";
  now_ += WorldWatch::kWriteQuiet / 2;
  EXPECT_THAT(Taken(), ElementsAre("/Game/a.txt"));
}

TEST_F(WorldWatchTest, AFileThatIsClosedDoesNotWait) {
  Begin();
  {
    const FileDescriptor file = OpenToWrite("content/a.txt");
    ASSERT_EQ(::write(file.get(), "x", 1), 1);
    EXPECT_THAT(Taken(), IsEmpty());
  }
  EXPECT_THAT(Taken(), ElementsAre("/Game/a.txt"));
}

TEST_F(WorldWatchTest, FilesThatNoScanSeesAreNotNamed) {
  Begin();
  Save("content/a.tmp");
  Save("content/out/c.txt");
  Save("content/out/d.txt");
  EXPECT_THAT(Taken(), IsEmpty());
}

TEST_F(WorldWatchTest, AFolderOfTwoMountsIsNamedInBoth) {
  Mount("/Dlc", "content/maps");
  Begin();
  Save("content/maps/b.txt");
  EXPECT_THAT(Taken(), ElementsAre("/Dlc/b.txt", "/Game/maps/b.txt"));
}

TEST_F(WorldWatchTest, ALinkIsLookedAtWhenAnythingChanges) {
  Link("maps/b.txt", "content/link.txt");
  Begin();
  Save("content/maps/b.txt");
  EXPECT_THAT(Taken(), ElementsAre("/Game/link.txt", "/Game/maps/b.txt"));
}

TEST_F(WorldWatchTest, AMountThatIsReplacedEndsTheWatch) {
  Begin();
  ASSERT_EQ(std::rename(Host("content").c_str(), Host("before").c_str()), 0);
  ASSERT_EQ(::mkdir(Host("content").c_str(), 0755), 0);
  EXPECT_EQ(watch_->Take(now_), std::nullopt);
}

}  // namespace
}  // namespace galley::director
