#include "director/shell/renamed_packages.h"

#include <filesystem>

#include "common/content/changes.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

class RenamedPackagesTest : public ShellTest {
 protected:
  void Move(const std::string& from, const std::string& to) {
    std::filesystem::rename(Host("content/" + from), Host("content/" + to));
  }

  // Returns the renames since `before`, one line "a.txt b.txt" each, without the mount.
  std::string RenamedSince(const WorldPtr& before) {
    const WorldPtr now = MakeWorld();
    std::string text;
    for (const FilesChanged::Renamed& one :
         RenamedPackages(content::DiffSnapshots(*before->snapshot, *now->snapshot), *before, *now))
      text += one.from.substr(6) + " " + one.to.substr(6) + "\n";
    return text;
  }
};

TEST_F(RenamedPackagesTest, AFileThatWasMovedIsThePackageOfBefore) {
  Write("content/a.txt", "a");
  Write("content/b.txt", "b");
  const WorldPtr before = MakeWorld();
  Move("a.txt", "c.txt");
  EXPECT_EQ(RenamedSince(before), "a.txt c.txt\n");
}

TEST_F(RenamedPackagesTest, AFileThatWasWrittenAnewIsAnother) {
  Write("content/a.txt", "a");
  const WorldPtr before = MakeWorld();
  Write("content/c.txt", "a");
  std::filesystem::remove(Host("content/a.txt"));
  EXPECT_EQ(RenamedSince(before), "");
}

TEST_F(RenamedPackagesTest, OfHardLinksNobodyKnowsWhichOneMoved) {
  Write("content/a.txt", "a");
  std::filesystem::create_hard_link(Host("content/a.txt"), Host("content/b.txt"));
  const WorldPtr before = MakeWorld();
  Move("a.txt", "c.txt");
  Move("b.txt", "d.txt");
  EXPECT_EQ(RenamedSince(before), "");
}

TEST_F(RenamedPackagesTest, AFileThatIsNoPackageAnyMoreIsNone) {
  Write("content/a.txt", "a");
  const WorldPtr before = MakeWorld();
  Move("a.txt", "a.md");
  EXPECT_EQ(RenamedSince(before), "");
}

}  // namespace
}  // namespace galley::director
