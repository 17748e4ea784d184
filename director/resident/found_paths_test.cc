#include "director/resident/found_paths.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace galley::director {
namespace {

FoundPath FileWith(const std::string& bytes) {
  return {.file = {.digest = Digest::Of(bytes)}, .packages = {"/Game/a.png"}};
}

class FoundPathsTest : public testing::Test {
 protected:
  // The digest of the file that is found; of no bytes: none is.
  Digest FindFile(const FoundPaths::Ground& ground, const std::string& platform = "linux",
                  const std::string& path = "Game/a.png.ktx2") const {
    const FoundPathPtr found = paths_.Find(ground, platform, path);
    return found == nullptr ? Digest() : found->file.digest;
  }

  FoundPaths paths_;
  const FoundPaths::Ground ground_{.shown = std::make_shared<ShownWorld>(), .table_version = 3};
};

TEST_F(FoundPathsTest, AFileIsFoundAgainOnTheSameGround) {
  EXPECT_EQ(FindFile(ground_), Digest());
  paths_.Note(ground_, "linux", "Game/a.png.ktx2", FileWith("a"));
  EXPECT_EQ(FindFile(ground_), Digest::Of("a"));
  EXPECT_EQ(FindFile(ground_, "windows"), Digest());
  EXPECT_EQ(FindFile(ground_, "linux", "Game/b.png.ktx2"), Digest());
}

TEST_F(FoundPathsTest, AFileIsNotFoundOnOtherGround) {
  paths_.Note(ground_, "linux", "Game/a.png.ktx2", FileWith("a"));
  FoundPaths::Ground other = ground_;
  other.table_version = 4;
  EXPECT_EQ(FindFile(other), Digest()) << "the table forgot something";
  other = ground_;
  other.shown = std::make_shared<ShownWorld>();
  EXPECT_EQ(FindFile(other), Digest()) << "another world";
  other = ground_;
  other.view_root = Digest::Of("root");
  EXPECT_EQ(FindFile(other), Digest()) << "a session";
}

TEST_F(FoundPathsTest, ViewsHaveFilesOfTheirOwn) {
  FoundPaths::Ground view = ground_;
  view.view_root = Digest::Of("root");
  paths_.Note(ground_, "linux", "Game/a.png.ktx2", FileWith("newest"));
  paths_.Note(view, "linux", "Game/a.png.ktx2", FileWith("older"));
  EXPECT_EQ(FindFile(ground_), Digest::Of("newest"));
  EXPECT_EQ(FindFile(view), Digest::Of("older"));
}

TEST_F(FoundPathsTest, TheLastNoteCounts) {
  paths_.Note(ground_, "linux", "Game/a.png.ktx2", FileWith("a"));
  FoundPaths::Ground later = ground_;
  later.table_version = 4;
  paths_.Note(later, "linux", "Game/a.png.ktx2", FileWith("b"));
  EXPECT_EQ(FindFile(later), Digest::Of("b"));
  EXPECT_EQ(FindFile(ground_), Digest());
}

TEST_F(FoundPathsTest, AWorldIsNotHeldForItsPaths) {
  auto shown = std::make_shared<ShownWorld>();
  const std::weak_ptr<ShownWorld> gone = shown;
  paths_.Note({.shown = shown}, "linux", "Game/a.png.ktx2", FileWith("a"));
  shown.reset();
  EXPECT_TRUE(gone.expired());
}

TEST_F(FoundPathsTest, WhenThereAreTooManyAllAreDropped) {
  for (size_t i = 0; i < FoundPaths::kPathsMax; ++i)
    paths_.Note(ground_, "linux", std::to_string(i), FileWith("a"));
  EXPECT_EQ(FindFile(ground_, "linux", "0"), Digest::Of("a"));
  paths_.Note(ground_, "linux", "one more", FileWith("b"));
  EXPECT_EQ(FindFile(ground_, "linux", "0"), Digest());
  EXPECT_EQ(FindFile(ground_, "linux", "one more"), Digest::Of("b"));
}

}  // namespace
}  // namespace galley::director
