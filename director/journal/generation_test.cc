#include "director/journal/generation.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "director/journal/journal.h"

namespace galley::director {
namespace {

class GenerationTest : public testing::Test {
 protected:
  void SetUp() override { dir_ = *MakeTemporaryDirectory(testing::TempDir(), "generation_test_"); }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }
  std::string Name() const { return JournalGeneration::Read(dir_); }

  std::string dir_;
};

TEST_F(GenerationTest, ANameHoldsUntilTheJournalSaysSomethingElse) {
  JournalGeneration generation(dir_);
  const std::string first = *generation.Rely();
  EXPECT_NE(first, "");
  EXPECT_EQ(*generation.Rely(), first);
  EXPECT_EQ(Name(), first);
  ASSERT_TRUE(generation.Move("files came").ok());
  const std::string second = Name();
  EXPECT_NE(second, first);
  ASSERT_TRUE(generation.Move("files came").ok());
  EXPECT_EQ(Name(), second);  // nobody noted it
  EXPECT_EQ(*generation.Rely(), second);
  ASSERT_TRUE(generation.Move("files came").ok());
  EXPECT_NE(Name(), second);
}

TEST_F(GenerationTest, ItSaysWhyTheOneThatWasReliedOnEnded) {
  JournalGeneration generation(dir_);
  ASSERT_TRUE(generation.Rely().ok());
  EXPECT_EQ(JournalGeneration::ReadReason(dir_), "");
  ASSERT_TRUE(generation.Move("files came").ok());
  ASSERT_TRUE(generation.Move("packages failed").ok());
  EXPECT_EQ(JournalGeneration::ReadReason(dir_), "files came") << "the first is the cause";
}

TEST_F(GenerationTest, TheFirstMoveOfAProcessIsOne) {
  const std::string noted = *JournalGeneration(dir_).Rely();
  ASSERT_TRUE(JournalGeneration(dir_).Move("files came").ok());
  EXPECT_NE(Name(), noted);
}

TEST_F(GenerationTest, ADamagedOneIsLikeNone) {
  const std::string noted = *JournalGeneration(dir_).Rely();
  ASSERT_TRUE(WriteFileAtomic(JoinPath(dir_, "generation"), "name " + noted + "\n").ok());
  EXPECT_EQ(Name(), "");
  const std::string next = *JournalGeneration(dir_).Rely();
  EXPECT_NE(next, "");
  EXPECT_NE(next, noted);
}

// Every change of what the journal says of a package moves the name; other changes do not.
TEST_F(GenerationTest, TheJournalMovesItWithEachChange) {
  auto journal = *Journal::Open(dir_);
  const auto moves = [&](const auto& change) {
    const std::string noted = *journal->RelyOnGeneration();
    EXPECT_TRUE(change().ok());
    return Name() != noted;
  };
  const std::vector<std::string> names = {"/Game/a"};
  const std::vector<JournalUpdate> updates = {{.package = "/Game/a", .platform = "pc"}};
  const std::vector<FailureUpdate> failures = {
      {.package = "/Game/a", .platform = "pc", .failure = FailureRecord()}};
  EXPECT_TRUE(moves([&] { return journal->Record(updates, true); }));
  EXPECT_TRUE(moves([&] { return journal->RecordFailures(failures); }));
  EXPECT_TRUE(moves([&] { return journal->Invalidate(names, JournalMeta()); }));
  EXPECT_TRUE(moves([&] { return journal->Forget(names); }));
  EXPECT_FALSE(moves([&] { return journal->Record({}, true); }));
  EXPECT_FALSE(moves([&] { return journal->RecordFailures({}); }));
  EXPECT_FALSE(moves([&] { return journal->Invalidate({}, JournalMeta()); }));
  EXPECT_FALSE(moves([&] { return journal->ForgetProgress(); }));
  EXPECT_FALSE(moves([&] { return journal->RecordPublished("pc", {.sequence = 1}, {}); }));
}

}  // namespace
}  // namespace galley::director
