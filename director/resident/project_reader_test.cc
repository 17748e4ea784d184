#include "director/resident/project_reader.h"

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProjectReaderTest : public testing::Test {
 protected:
  void SetUp() override { folder_ = MakeTemporaryDirectory(testing::TempDir(), "reader").value(); }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  void Write(const std::string& more) {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, "galley.toml"),
                                "[project]\nname = \"p\"\n[[mount]]\npath = \"/Game\"\ndir = "
                                "\".\"\n[[platform]]\nname = \"pc\"\ntexture = \"bc\"\n" +
                                    more)
                    .ok());
  }
  absl::StatusOr<project::Project> Load() const {
    return project::LoadProject({.directory = folder_});
  }
  ProjectReader Reader() {
    return ProjectReader([this] { return Load(); },
                         std::make_shared<const project::Project>(Load().value()));
  }

  std::string folder_;
};

TEST_F(ProjectReaderTest, AProjectThatDidNotChangeIsTheSameObject) {
  Write("");
  ProjectReader reader = Reader();
  const auto first = reader.Read();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*reader.Read(), *first);
  Write("[[rule]]\nmatch = \"/Game/**/*.x\"\ncooker = \"copy\"\n");
  const auto second = reader.Read();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(*second, *first);
  EXPECT_EQ((*second)->rules.size(), 1u);
  EXPECT_EQ(*reader.Read(), *second);
  EXPECT_THAT(reader.notes(), IsEmpty());
}

TEST_F(ProjectReaderTest, WhyACookWasRefusedIsANoteUntilTheFileIsAnotherOne) {
  Write("");
  ProjectReader reader = Reader();
  ASSERT_TRUE(reader.Read().ok());
  reader.NoteEnd("galley.toml:9: unknown cooker `textur`");
  reader.Renew();
  EXPECT_THAT(reader.notes(), ElementsAre(HasSubstr("refused: galley.toml:9: unknown cooker")));
  Write("[[rule]]\nmatch = \"/Game/**/*.x\"\ncooker = \"copy\"\n");
  reader.Renew();
  EXPECT_THAT(reader.notes(), IsEmpty());
  reader.NoteEnd("again");
  reader.NoteEnd("");
  EXPECT_THAT(reader.notes(), IsEmpty());
}

TEST_F(ProjectReaderTest, ThePlaceOfTheStoreStaysUntilARestart) {
  Write("");
  ProjectReader reader = Reader();
  const std::string before = (*reader.Read())->store.directory;
  Write("[store]\ndir = \"elsewhere\"\n");
  const auto second = reader.Read();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->store.directory, before);
  EXPECT_THAT(reader.notes(), ElementsAre(HasSubstr("store.dir is ")));
}

TEST_F(ProjectReaderTest, AFileWithAnErrorIsToldUntilItIsRight) {
  Write("");
  ProjectReader reader = Reader();
  const auto first = reader.Read();
  Write("[nonsense]\n");
  EXPECT_TRUE(absl::IsInvalidArgument(reader.Read().status()));
  EXPECT_THAT(reader.notes(), ElementsAre(HasSubstr("last good project file")));
  Write("");
  EXPECT_EQ(*reader.Read(), *first);
  EXPECT_THAT(reader.notes(), IsEmpty());
}

TEST(DifferenceThatMattersTest, ValuesThatDecideBytesOrWereGivenExpresslyMatter) {
  const std::vector<project::Origin> ours = {{"store.trust", "main", "default"},
                                             {"farm.workers", "4", "command line"},
                                             {"output.dir", "/out", "default"}};
  const auto differs = [&](const project::Origin& theirs) {
    return DifferenceThatMatters(ours, {theirs});
  };
  EXPECT_EQ(differs({"store.trust", "main", "galley.toml:3"}), "");
  EXPECT_EQ(differs({"store.trust", "nightly", "GALLEY_STORE_TRUST"}),
            "store.trust is main for the director (default) and nightly here "
            "(GALLEY_STORE_TRUST)");
  EXPECT_NE(differs({"store.trust", "nightly", "default"}), "");
  EXPECT_EQ(differs({"farm.workers", "0", "default"}), "");
  EXPECT_EQ(differs({"farm.workers", "2", "galley.toml:9"}), "");
  EXPECT_NE(differs({"farm.workers", "2", "command line"}), "");
  EXPECT_EQ(differs({"output.dir", "/mine", "command line"}), "");
}

}  // namespace
}  // namespace galley::director
