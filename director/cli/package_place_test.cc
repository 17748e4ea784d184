#include "director/cli/package_place.h"

#include "common/base/file.h"
#include "director/cli/host_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using testing::HasSubstr;

class PackagePlaceTest : public testing::Test {
 protected:
  PackagePlaceTest() {
    std::string name = testing::TempDir() + "/galley-package-place-XXXXXX";
    root_ = ::mkdtemp(name.data());
    project_.root = root_;
    project_.mounts = {{.path = "/Game", .directory = root_ + "/content"}};
    project_.cook.never = {"/Game/dev/**"};
    project::Rule rule{.match = *content::Glob::Parse("/Game/**/*.png"),
                       .body = {},
                       .line = 7,
                       .ignore_case = false};
    rule.body.cooker = "texture";
    project_.rules.push_back(std::move(rule));
    Write("barrel.png");
    Write("dev/x.png");
    Write("notes.txt");
    Write("own.txt");
    Write("own.txt.cook", "# mine\ncooker = \"copy\"\n");
  }
  ~PackagePlaceTest() override { (void)RemoveAll(root_); }

  void Write(const std::string& path, const std::string& text = "x") {
    const std::string file = root_ + "/content/" + path;
    ASSERT_TRUE(CreateDirectories(file.substr(0, file.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  }
  std::string Choice(const std::string& package) const {
    const auto choice = ChoiceOf(project_, package);
    return choice ? choice->cooker + " " + choice->place : "none";
  }

  std::string root_;
  project::Project project_;
};

TEST_F(PackagePlaceTest, WhoChoseTheCookerIsReadFromRulesAndTheSidecar) {
  EXPECT_EQ(Choice("/Game/barrel.png"), "texture galley.toml:7");
  EXPECT_EQ(Choice("/Game/own.txt"), "copy /Game/own.txt.cook:2");
  EXPECT_EQ(Choice("/Game/notes.txt"), "none");
  EXPECT_EQ(Choice("/Game/barrel.png/_gen/a.png"), "none");
}

TEST_F(PackagePlaceTest, ANameThatIsNoPackageSaysWhy) {
  EXPECT_EQ(WhyNotCooked(project_, "/Game/barrel.png"), "");
  EXPECT_EQ(WhyNotCooked(project_, "/Game/own.txt"), "");
  EXPECT_EQ(WhyNotCooked(project_, "/Game/gone.level/_gen/a.level"), "");
  EXPECT_THAT(WhyNotCooked(project_, "/Game/barel.png"),
              testing::AllOf(HasSubstr("there is no file content/barel.png"),
                             HasSubstr("did you mean /Game/barrel.png?")));
  EXPECT_THAT(WhyNotCooked(project_, "/Game/de/x.png"), HasSubstr("did you mean /Game/dev/x.png?"));
  EXPECT_THAT(WhyNotCooked(project_, "/Game/notes.txt"),
              HasSubstr("no [[rule]] of galley.toml matches it"));
  EXPECT_THAT(WhyNotCooked(project_, "/Game/dev/x.png"),
              HasSubstr("\"/Game/dev/**\" in never of [cook]"));
  EXPECT_THAT(WhyNotCooked(project_, "/Game/dev"), HasSubstr("content/dev is a folder"));
  EXPECT_THAT(WhyNotCooked(project_, "/Game/own.txt.cook"), HasSubstr("says how /Game/own.txt is"));
}

TEST_F(PackagePlaceTest, AFileInASandboxIsNoContent) {
  Write("out/pc/Game/barrel.png");
  EXPECT_EQ(WhyNotCooked(project_, "/Game/out/pc/Game/barrel.png"), "");
  Write("out/pc/.galley-sandbox");
  EXPECT_EQ(WhyNotCooked(project_, "/Game/out/pc/Game/barrel.png"),
            "it is in the sandbox " + root_ + "/content/out/pc, which is not content");
  project_.mounts.push_back({.path = "/Cooked", .directory = root_ + "/content/out/pc"});
  EXPECT_THAT(WhyNotCooked(project_, "/Cooked/Game/barrel.png"), HasSubstr("no [[rule]]"));
}

TEST_F(PackagePlaceTest, ThePlaceOfAnErrorIsAFileThatIsThere) {
  EXPECT_EQ(FileOfPlace(project_, "/Game/barrel.png", "source"), "content/barrel.png");
  EXPECT_EQ(FileOfPlace(project_, "/Game/barrel.png", "dev/x.png"), "content/dev/x.png");
  EXPECT_EQ(FileOfPlace(project_, "/Game/barrel.png", "/Game/notes.txt"), "content/notes.txt");
  EXPECT_EQ(FileOfPlace(project_, "/Game/barrel.png", "no.txt"), std::nullopt);
  EXPECT_EQ(FileOfPlace(project_, "/Game/x/_gen/a.frag", "source"), "/Game/x/_gen/a.frag");
}

}  // namespace
}  // namespace galley::cli
