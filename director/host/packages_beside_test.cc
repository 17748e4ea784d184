#include "director/host/packages_beside.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

TEST(PackagesBesideTest, ArePackagesWhoseNamesBeginWithAFailedOne) {
  project::Project project;
  project.mounts = {{.path = "/Game"}};
  const Names names = {"/Game/a.json",       "/Game/a.json.d/x", "/Game/a.json.meta",
                       "/Game/a.json2.meta", "/Game/b.json",     "/Game/b.json.meta"};
  const Names generated = {"/Game/b.json/_gen/c", "/Game/b.json/_gen/c.meta"};
  EXPECT_THAT(PackagesBeside(project, names, generated, {"Game/a.json"}),
              ElementsAre("Game/a.json.d/x", "Game/a.json.meta"));
  EXPECT_THAT(PackagesBeside(project, names, generated, {"Game/a.json", "Game/a.json.meta"}),
              ElementsAre("Game/a.json.d/x"));
  EXPECT_THAT(PackagesBeside(project, names, generated, {"Game/b.json/_gen/c"}),
              ElementsAre("Game/b.json/_gen/c.meta"));
  EXPECT_THAT(PackagesBeside(project, names, generated, {}), IsEmpty());
}

TEST(PackagesBesideTest, AreFoundWhereTheirMountIsStaged) {
  project::Project project;
  project.mounts = {{.path = "/Game"},
                    {.path = "/Game/dlc", .stage_as = "/Game/maps"},
                    {.path = "/Mod", .stage_as = "/Game/a.d"}};
  const Names names = {"/Game/dlc/b.json", "/Game/dlc/b.json.meta", "/Game/maps/b.json.note",
                       "/Mod/x"};
  EXPECT_THAT(PackagesBeside(project, names, {}, {"Game/maps/b.json"}),
              ElementsAre("Game/maps/b.json.meta", "Game/maps/b.json.note"));
  EXPECT_THAT(PackagesBeside(project, names, {}, {"Game/a"}), ElementsAre("Game/a.d/x"));
  EXPECT_THAT(PackagesBeside(project, names, {}, {"Game/dlc/b.json"}), IsEmpty());
}

}  // namespace
}  // namespace galley::director
