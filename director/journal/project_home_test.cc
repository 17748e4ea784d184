#include "director/journal/project_home.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProjectHomeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::canonical(MakeTemporaryDirectory(::testing::TempDir(), "home").value()).string();
    fs::create_directories(State("game"));
    Lock("game", "1 term 1");
    ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  std::string Folder(const std::string& name) const { return JoinPath(folder_, name); }
  std::string State(const std::string& name) const {
    return JoinPath(Folder(name), ".galley/state");
  }
  // Writes the lock's file as a director does that cooks there.
  void Lock(const std::string& name, const std::string& text) {
    std::ofstream(JoinPath(State(name), "lock")) << text;
  }
  ProjectHome Find(const std::string& name) { return FindHome(State(name), Folder(name)); }
  void Copy(const std::string& from, const std::string& to) {
    fs::copy(Folder(from), Folder(to), fs::copy_options::recursive);
  }

  std::string folder_;
};

TEST_F(ProjectHomeTest, AProjectThatStayedKeepsItsId) {
  EXPECT_EQ(Find("game").project_id, "id");
  EXPECT_EQ(Find("game").copied_from, "");
  EXPECT_EQ(ReadProjectId(State("game")), "id");
}

TEST_F(ProjectHomeTest, ACopyHasNoIdUntilItGetsItsOwn) {
  Copy("game", "copy");
  EXPECT_EQ(Find("copy").project_id, "");
  EXPECT_EQ(Find("copy").copied_from, Folder("game"));
  EXPECT_EQ(Find("game").project_id, "id") << "the original is not concerned";
  ASSERT_TRUE(WriteHome(State("copy"), Folder("copy"), "other").ok());
  EXPECT_EQ(Find("copy").project_id, "other");
  Copy("copy", "copy of the copy");
  EXPECT_EQ(Find("copy of the copy").copied_from, Folder("copy"));
}

TEST_F(ProjectHomeTest, WhatWasMovedKeepsItsId) {
  fs::rename(Folder("game"), Folder("moved"));
  EXPECT_EQ(Find("moved").project_id, "id");
  fs::create_directories(Folder("game"));  // another project is there now
  EXPECT_EQ(Find("moved").project_id, "id");
  fs::create_directories(State("game"));
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "another project").ok());
  EXPECT_EQ(Find("moved").project_id, "id");
}

TEST_F(ProjectHomeTest, WhatWasRestoredInItsPlaceKeepsItsId) {
  Copy("game", "backup");
  fs::remove_all(Folder("game"));
  fs::rename(Folder("backup"), Folder("game"));
  EXPECT_EQ(Find("game").project_id, "id");
}

TEST_F(ProjectHomeTest, OneFolderThatShowsAtTwoPathsIsNoCopy) {
  fs::create_directory_symlink(Folder("game"), Folder("link"));
  EXPECT_EQ(Find("link").project_id, "id");
}

// The copy is made as by `cp -al`.
TEST_F(ProjectHomeTest, ACopyOfHardLinksIsACopy) {
  fs::create_directories(State("linked"));
  for (const char* name : {"lock", "project"})
    fs::create_hard_link(JoinPath(State("game"), name), JoinPath(State("linked"), name));
  EXPECT_EQ(Find("linked").copied_from, Folder("game"));
}

TEST_F(ProjectHomeTest, OfTwoFilesOneIsEnough) {
  for (const char* name : {"project", "project.copy"}) {
    const std::string file = JoinPath(State("game"), name);
    const std::string good = ReadFile(file).value();
    std::string flipped = good;
    flipped[good.size() / 2] ^= 1;
    for (const std::string& bytes :
         {flipped, good.substr(0, 20), std::string(), std::string(9, 0)}) {
      std::ofstream(file) << bytes;
      TakeRepairs();
      EXPECT_EQ(Find("game").project_id, "id") << name;
      EXPECT_THAT(TakeRepairs(), IsEmpty()) << "only who has the lock puts it right";
      ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
      EXPECT_EQ(ReadFile(file).value(), good);
      ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
    }
    fs::remove(file);
    EXPECT_EQ(Find("game").project_id, "id") << name;
    fs::create_directories(file);
    std::ofstream(file + "/mine") << "a person's";
    EXPECT_EQ(Find("game").project_id, "id") << name;
    ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
    EXPECT_EQ(ReadFile(file).value(), good);
  }
}

TEST_F(ProjectHomeTest, WhatIsWrongIsToldOnceAndPutRight) {
  std::ofstream(JoinPath(State("game"), "project")) << "galley-project 1\nproject id\n";
  TakeRepairs();
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
  EXPECT_THAT(TakeRepairs(), ElementsAre(AllOf(HasSubstr("/project: it is no whole"),
                                               HasSubstr("moved aside to"))));
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "id").ok());
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(ProjectHomeTest, AnOlderFileThatWasPutBackDoesNotHold) {
  const std::string file = JoinPath(State("game"), "project");
  const std::string old = ReadFile(file).value();
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "its own").ok());
  std::ofstream(file) << old;
  EXPECT_EQ(Find("game").project_id, "its own");
  TakeRepairs();
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "its own").ok());
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is an older one")));
  EXPECT_NE(ReadFile(file).value(), old);
}

TEST_F(ProjectHomeTest, OneOfAnOlderGalleyIsTakenOnWithoutAWord) {
  for (const char* name : {"project", "project.copy"}) fs::remove(JoinPath(State("game"), name));
  std::ofstream(JoinPath(State("game"), "project"))
      << Seal("galley-project", 1, {{"project", "old"}, {"folder", Folder("game")}});
  EXPECT_EQ(Find("game").project_id, "old");
  TakeRepairs();
  ASSERT_TRUE(WriteHome(State("game"), Folder("game"), "old").ok());
  EXPECT_THAT(TakeRepairs(), IsEmpty());
  fs::remove(JoinPath(State("game"), "project"));
  EXPECT_EQ(Find("game").project_id, "old");
}

TEST_F(ProjectHomeTest, WithoutBothTheStateSaysNothing) {
  for (const char* name : {"project", "project.copy"})
    std::ofstream(JoinPath(State("game"), name)) << "galley-project 1\nproject id\n";
  EXPECT_EQ(Find("game").project_id, "");
  EXPECT_EQ(Find("game").copied_from, "");
}

}  // namespace
}  // namespace galley::director
