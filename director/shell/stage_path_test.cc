#include "director/shell/stage_path.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(StagePathTest, AMountsPackagesLieWhereItIsStaged) {
  project::Project project;
  project.mounts = {{.path = "/Game", .directory = "/x/game"},
                    {.path = "/Game/dlc", .directory = "/x/dlc", .stage_as = "/Game/dlc1"},
                    {.path = "/Game/dlc/plain", .directory = "/x/plain"}};
  EXPECT_EQ(StagePath(project, "/Game/a.txt"), "Game/a.txt");
  EXPECT_EQ(StagePath(project, "/Game/dlc/a.txt"), "Game/dlc1/a.txt");
  EXPECT_EQ(StagePath(project, "/Game/dlcx/a.txt"), "Game/dlcx/a.txt");
  EXPECT_EQ(StagePath(project, "/Game/dlc/plain/a.txt"), "Game/dlc/plain/a.txt")
      << "the longest virtual path wins";
}

}  // namespace
}  // namespace galley::director
