#include "director/host/sandboxes.h"

#include <filesystem>

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

class SandboxesTest : public testing::Test {
 protected:
  SandboxesTest() {
    const std::string folder = std::filesystem::canonical(folder_.path()).string();
    project_.root = JoinPath(folder, "project");
    project_.output_directory = JoinPath(folder, "out");
    project_.store.directory = JoinPath(folder, "store");
    EXPECT_TRUE(CreateDirectories(project_.state_directory()).ok());
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make(testing::TempDir(), "galley-sandboxes-");
  project::Project project_;
};

TEST_F(SandboxesTest, OneLiesInTheOutputForEachPlatform) {
  const Sandboxes sandboxes(project_, {});
  EXPECT_EQ(sandboxes.PathOf("windows"), JoinPath(project_.output_directory, "windows"));
  EXPECT_TRUE(sandboxes.CheckAll({"windows", "android"}, "").ok());
  EXPECT_TRUE(sandboxes.Claim("windows", "id").ok());
  EXPECT_TRUE(sandboxes.CheckAll({"windows"}, "id").ok());
}

TEST_F(SandboxesTest, AFolderOfSomebodyIsWrongUseUnlessItIsAdopted) {
  const std::string folder = JoinPath(project_.output_directory, "windows");
  ASSERT_TRUE(CreateDirectories(folder).ok());
  ASSERT_TRUE(WriteFileAtomic(JoinPath(folder, "thesis.txt"), "mine").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Sandboxes(project_, {}).CheckAll({"windows"}, "id")));
  EXPECT_TRUE(absl::IsFailedPrecondition(Sandboxes(project_, {}).Claim("windows", "id")));
  EXPECT_TRUE(Sandboxes(project_, {.adopt = true}).CheckAll({"windows"}, "id").ok());
}

TEST_F(SandboxesTest, NoSandboxContainsTheStore) {
  project_.store.directory = JoinPath(project_.output_directory, "windows/store");
  ASSERT_TRUE(CreateDirectories(project_.store.directory).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(Sandboxes(project_, {.adopt = true}).CheckAll({"windows"}, "id")));
}

}  // namespace
}  // namespace galley::director
