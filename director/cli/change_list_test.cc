#include "director/cli/change_list.h"

#include <unistd.h>

#include <string>

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

TEST(ChangeListTest, ALineInQuotesIsReadAsGitWroteIt) {
  EXPECT_THAT(PathsIn("\"caf\\303\\251.png\"\r\n\"a\\tb\\\"c\\\\d\"\nplain"),
              ElementsAre("caf\u00e9.png", "a\tb\"c\\d", "plain"));
  EXPECT_THAT(PathsIn("\"a b\""), ElementsAre("a b"));
  EXPECT_THAT(PathsIn("\"\\a\\b\\n\\v\\f\\r\""), ElementsAre("\a\b\n\v\f\r"));
  EXPECT_THAT(PathsIn("\"\""), IsEmpty());
  // Other lines stand for themselves, and so do all paths that end with NUL.
  for (const char* const line :
       {"\"open", "\"", "say \"x\"", "\"a\" or \"b\"", "\"\\x41\"", "\"\\777\"", "\"\\3\""})
    EXPECT_THAT(PathsIn(line), ElementsAre(line));
  EXPECT_THAT(PathsIn("\"a\"\0"sv), ElementsAre("\"a\""));
}

TEST(ChangeListTest, AByteOrderMarkIsNoPartOfAPath) {
  EXPECT_THAT(PathsIn("\xEF\xBB\xBF"
                      "a\nb"),
              ElementsAre("a", "b"));
  EXPECT_THAT(PathsIn("\xEF\xBB\xBF\"a\\tb\"\n\xEF\xBB\xBF"
                      "c"),
              ElementsAre("a\tb", "c"));
  EXPECT_THAT(PathsIn("\xEF\xBB\xBF"
                      "a\0b\0"sv),
              ElementsAre("a", "b"));
  EXPECT_THAT(PathsIn("\xEF\xBB\xBF"), IsEmpty());
}

TEST(ChangeListTest, AListInUtf16IsReadAsThat) {
  EXPECT_THAT(PathsIn("\xFF\xFE"
                      "a\0/\0\xE9\0\r\0\n\0b\0"sv),
              ElementsAre("a/\u00e9", "b"));
  EXPECT_THAT(PathsIn("\xFE\xFF\0a\0\n\xD8\x3D\xDE\0"sv), ElementsAre("a", "\U0001F600"));
  EXPECT_THAT(PathsIn("\xFF\xFE"), IsEmpty());
}

TEST(ChangeListTest, OfANameThatIsNoUtf8TheFolderIsMeant) {
  EXPECT_THAT(PathsIn("sub/\xE9.png\n\"deep/er/\\351.png\"\n\xE9"),
              ElementsAre("sub", "deep/er", "."));
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

TEST(ChangeListTest, APipeIsReadAndADeviceIsAnEmptyList) {
  project::Project project;
  project.mounts = {{.path = "/Game", .directory = "/p/content"}};
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "/p/content/a\n", 13), 13);
  ::close(ends[1]);
  const auto piped = ReadChangeLists(project, {"/proc/self/fd/" + std::to_string(ends[0])});
  ::close(ends[0]);
  ASSERT_TRUE(piped.ok()) << piped.status();
  EXPECT_THAT(piped->paths, ElementsAre("/Game/a"));
  const auto empty = ReadChangeLists(project, {"/dev/null"});
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(empty->paths, IsEmpty());
  EXPECT_FALSE(ReadChangeLists(project, {"/"}).ok());
}

}  // namespace
}  // namespace galley::cli
