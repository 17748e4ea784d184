#include "common/record/programs.h"

#include "gtest/gtest.h"

namespace galley::record {
namespace {

TEST(ProgramsTest, TheProgramOfARecipeIsItsFirstArgument) {
  Recipe recipe{.cooker = "command",
                .identity = "1",
                .extension = "txt",
                .settings = R"({"argv":["tools/bake","{input}"]})"};
  EXPECT_EQ(ProgramOf(recipe), "tools/bake");
  for (const char* settings :
       {"{}", "[]", "", R"({"argv":[]})", R"({"argv":[1]})", R"({"argv":"x"})"}) {
    recipe.settings = settings;
    EXPECT_EQ(ProgramOf(recipe), "") << settings;
  }
  EXPECT_EQ(ProgramOf({.cooker = "copy",
                       .identity = "1",
                       .extension = "txt",
                       .settings = R"({"argv":["tools/bake"]})"}),
            "");
}

TEST(ProgramsTest, OnlyFilesOfTheSystemAreThat) {
  for (const char* path : {"/usr/include/x.h", "/lib64/ld.so", "/bin/sh", "/etc/mime.types"})
    EXPECT_TRUE(IsSystemFile(path)) << path;
  for (const char* path : {"/home/me/x", "usr/x", "/usr/../home/me/x", "/usr/..", "", "/usrx"})
    EXPECT_FALSE(IsSystemFile(path)) << path;
}

}  // namespace
}  // namespace galley::record
