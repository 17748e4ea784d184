#include "director/shell/quarantine_file.h"

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const QuarantinedWorker kByItself{"far-2", "node2", "it made\nsomething else",
                                  absl::FromUnixSeconds(1'700'000'000)};
const QuarantinedWorker kOfALaunch{"slurm-3", "node7", "it lies",
                                   absl::FromUnixSeconds(1'700'000'001)};

class QuarantineFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "quarantine").value();
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  std::string folder_;
};

TEST_F(QuarantineFileTest, WhoIsInItStaysForTheNextDirector) {
  EXPECT_THAT(*QuarantineFile(folder_).All(), IsEmpty());
  ASSERT_TRUE(QuarantineFile(folder_).Add(kByItself).ok());
  ASSERT_TRUE(QuarantineFile(folder_).Add(kOfALaunch).ok());
  ASSERT_TRUE(QuarantineFile(folder_).Add(kByItself).ok()) << "once more: it stands there once";
  EXPECT_THAT(*QuarantineFile(folder_).All(), ElementsAre(kOfALaunch, kByItself));
}

TEST_F(QuarantineFileTest, AWorkerThatCameByItselfIsMeantEverywhereALaunchedOneOnItsMachine) {
  QuarantineFile file(folder_);
  ASSERT_TRUE(file.Add(kByItself).ok());
  ASSERT_TRUE(file.Add(kOfALaunch).ok());
  EXPECT_EQ(*file.WhyOf("far-2", "node9", false), kByItself.why);
  EXPECT_EQ(*file.WhyOf("far-3", "node2", false), "");
  EXPECT_EQ(*file.WhyOf("slurm-3", "node7", true), "it lies");
  EXPECT_EQ(*file.WhyOf("slurm-3", "node8", true), "") << "another worker of a later launch";
}

TEST_F(QuarantineFileTest, ItIsLiftedByNameOrByNameAndMachine) {
  QuarantineFile file(folder_);
  ASSERT_TRUE(file.Add(kByItself).ok());
  ASSERT_TRUE(file.Add(kOfALaunch).ok());
  EXPECT_TRUE(absl::IsNotFound(file.Remove("far-2@node3").status()));
  EXPECT_TRUE(absl::IsNotFound(file.Remove("node2").status()));
  EXPECT_THAT(QuarantineFile(folder_).Remove("far-2@node2").value(), ElementsAre(kByItself));
  EXPECT_EQ(*file.WhyOf("far-2", "node2", false), "") << "a director that runs hears of it";
  EXPECT_THAT(file.Remove("slurm-3").value(), ElementsAre(kOfALaunch));
  EXPECT_THAT(*file.All(), IsEmpty());
}

TEST_F(QuarantineFileTest, OneThatIsDamagedIsEmptyAndOneThatCannotBeWrittenCountsForThisDirector) {
  QuarantineFile file(folder_);
  ASSERT_TRUE(file.Add(kByItself).ok());
  ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, "quarantine"), "galley-quarantine 1\n").ok());
  EXPECT_THAT(*file.All(), IsEmpty());
  QuarantineFile nowhere(JoinPath(folder_, "absent/state"));
  EXPECT_FALSE(nowhere.Add(kByItself).ok());
  EXPECT_EQ(*nowhere.WhyOf("far-2", "node2", false), kByItself.why);
}

}  // namespace
}  // namespace galley::director
