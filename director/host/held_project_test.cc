#include "director/host/held_project.h"

#include <filesystem>

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "director/host/testing/fake_listener.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HeldProjectTest : public testing::Test {
 protected:
  HeldProjectTest() { project_.root = MakeRoot("one"); }

  std::string MakeRoot(const std::string& name) {
    const std::string root = JoinPath(std::filesystem::canonical(folder_.path()).string(), name);
    EXPECT_TRUE(CreateDirectories(root).ok());
    return root;
  }
  absl::StatusOr<std::unique_ptr<HeldProject>> Take(const project::Project& project,
                                                    bool waits = false) {
    return HeldProject::Take(project,
                             {.waits = waits,
                              .check =
                                  [this](const std::string& id) {
                                    asked_.push_back(id);
                                    return answer_;
                                  }},
                             told_, stop_);
  }
  // Returns the id of a project that was held and let go.
  std::string HoldOnce(const project::Project& project) {
    const auto held = Take(project);
    EXPECT_TRUE(held.ok()) << held.status();
    const auto journal = Journal::Open(project.state_directory());
    EXPECT_TRUE((*held)->Settle(**journal, told_).ok());
    return (*held)->project_id();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make(testing::TempDir(), "galley-held-");
  project::Project project_;
  FakeListener told_;
  Cancellation stop_;
  std::vector<std::string> asked_;
  absl::Status answer_;
};

TEST_F(HeldProjectTest, KeepsTheIdThatItWasGiven) {
  const std::string id = HoldOnce(project_);
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(HoldOnce(project_), id);
  EXPECT_THAT(asked_, ElementsAre("", id));
  EXPECT_THAT(told_.lines, IsEmpty());
}

TEST_F(HeldProjectTest, OneDirectorAtATimeHoldsIt) {
  const auto first = Take(project_);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE((*first)->MayWrite().ok());
  const auto second = Take(project_);
  EXPECT_TRUE(absl::IsInvalidArgument(second.status())) << second.status();
  EXPECT_THAT(second.status().message(), HasSubstr("--standalone: "));
}

TEST_F(HeldProjectTest, WaitingIsToldOnceAndEndsWhenAPersonStopsIt) {
  const auto first = Take(project_);
  stop_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Take(project_, /*waits=*/true).status()));
  EXPECT_THAT(told_.lines, ElementsAre(HasSubstr("waiting for another cook of this project")));
}

TEST_F(HeldProjectTest, WhatIsFoundWrongBeforeKeepsItFree) {
  answer_ = absl::InvalidArgumentError("the output is somebody's");
  EXPECT_EQ(Take(project_).status(), answer_);
  answer_ = absl::OkStatus();
  EXPECT_TRUE(Take(project_).ok());
}

TEST_F(HeldProjectTest, ACopyGetsAnIdOfItsOwn) {
  const std::string id = HoldOnce(project_);
  project::Project copy;
  copy.root = MakeRoot("two");
  std::filesystem::copy(
      project_.root, copy.root,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  asked_.clear();
  EXPECT_NE(HoldOnce(copy), id);
  EXPECT_THAT(asked_, ElementsAre("", "")) << "as FindHome has it, and once more as a copy";
  EXPECT_THAT(told_.lines,
              ElementsAre(HasSubstr("this project is a copy of the one in " + project_.root)));
}

}  // namespace
}  // namespace galley::director
