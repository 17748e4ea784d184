#include "director/cli/change_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::string_view_literals;

TEST(ChangeListTest, ListsAreOfLinesOrOfNulTerminatedPaths) {
  EXPECT_THAT(PathsIn("a\nb c\r\n\nd"), ElementsAre("a", "b c", "d"));
  EXPECT_THAT(PathsIn("a\nb\0c\0"sv), ElementsAre("a\nb", "c"));
  EXPECT_THAT(PathsIn(""), IsEmpty());
  EXPECT_THAT(PathsIn("\n\n"), IsEmpty());
}

TEST(ChangeListTest, APathHasAllItsVirtualNames) {
  project::Project project;
  project.mounts = {{.path = "/Game", .directory = "/p/content"},
                    {.path = "/Mod", .directory = "/p/content/mod"},
                    {.path = "/Engine", .directory = "/e"}};
  ChangeList list;
  AddPath(project, "/p/content/a.json", list);
  EXPECT_THAT(list.paths, ElementsAre("/Game/a.json"));
  AddPath(project, "/p/content/mod/b", list);
  EXPECT_THAT(list.paths, ElementsAre("/Game/a.json", "/Game/mod/b", "/Mod/b"));
  AddPath(project, "/Engine/shader", list);
  EXPECT_EQ(list.paths.back(), "/Engine/shader");
  EXPECT_EQ(list.elsewhere, 0u);
  AddPath(project, "/p/contents/x", list);
  AddPath(project, "readme", list);
  EXPECT_EQ(list.elsewhere, 2u);
  EXPECT_EQ(list.paths.size(), 4u);
  ChangeList above;
  AddPath(project, "/p", above);
  EXPECT_THAT(above.paths, ElementsAre("/Game", "/Mod"));
}

}  // namespace
}  // namespace galley::cli
