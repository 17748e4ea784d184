#include "director/shell/free_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace galley::director {
namespace {

using testing::HasSubstr;

TEST(FreeProgramsTest, WorkersThatLackWallsAreOneWarningWithTheReason) {
  EXPECT_EQ(FreeProgramsText({}), std::nullopt);
  EXPECT_THAT(*FreeProgramsText({.workers = {"local-1"}, .why = "no; do this"}),
              testing::AllOf(HasSubstr("on worker local-1,"), HasSubstr(": no; do this")));
  EXPECT_THAT(*FreeProgramsText({.workers = {"a", "b", "c", "d", "e"}, .why = "no"}),
              HasSubstr("on workers a, b, c and 2 more,"));
  EXPECT_THAT(*FreeProgramsText({.workers = {"a", "b"}, .why = "no", .blind = "a network"}),
              testing::AllOf(HasSubstr("on workers a and b,"),
                             HasSubstr("nor is it seen what they change: a network")));
}

TEST(FreeProgramsTest, AChangeIsOfThePackagesWhoseProgramsRanThen) {
  FreePrograms programs;
  programs.changes = {{"/Game/a", "changed", {"/Game/x.obj"}},
                      {"/Game/b", "is gone", {"/Game/x.obj", "/Game/y.obj"}}};
  const auto told = ProgramChanges(programs);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].package, "/Game/x.obj");
  EXPECT_THAT(told[0].text, HasSubstr("/Game/a changed while the program of /Game/x.obj ran"));
  EXPECT_EQ(told[1].package, "");
  EXPECT_THAT(told[1].text,
              HasSubstr("/Game/b is gone while the programs of /Game/x.obj and /Game/y.obj ran"));
}

TEST(FreeProgramsTest, ManyChangesAreCounted) {
  FreePrograms programs;
  for (int i = 0; i < 33; ++i)
    programs.changes.push_back({"/Game/" + std::to_string(i), "is new", {"/Game/x.obj"}});
  const auto told = ProgramChanges(programs);
  ASSERT_EQ(told.size(), 21u);
  EXPECT_THAT(told.back().text, HasSubstr("13 more files changed while programs ran"));
}

}  // namespace
}  // namespace galley::director
