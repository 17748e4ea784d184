#include "director/resident/path_read.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PathOwner Owner(const std::string& package, const std::string& suffix) {
  return {.path = package.substr(1) + suffix, .package = package, .suffix = suffix};
}

PackageFilesPtr Files(const std::vector<std::string>& suffixes,
                      std::vector<std::string> generated = {}) {
  auto files = std::make_shared<PackageFiles>();
  files->key = Digest::Of("key");
  for (const std::string& suffix : suffixes)
    files->outputs.push_back({suffix, Digest::Of("bytes of " + suffix)});
  files->generated = std::move(generated);
  return files;
}

PackageFault Fault(const std::string& package) {
  return {.package = package, .error = "no image data", .cause = "verdict"};
}

TEST(PathReadTest, TheFileOfTheOnlyOwnerIsFoundWhenItIsCooked) {
  PathRead read("Game/a.png.ktx2", {.owners = {Owner("/Game/a.png", ".ktx2")}});
  EXPECT_THAT(read.Wanted(), ElementsAre("/Game/a.png"));
  read.TakeFiles("/Game/a.png", Files({".ktx2"}));
  EXPECT_THAT(read.Wanted(), IsEmpty());
  const PathOutcome outcome = read.Decide();
  ASSERT_TRUE(std::holds_alternative<FoundFile>(outcome));
  EXPECT_EQ(std::get<FoundFile>(outcome).package, "/Game/a.png");
  EXPECT_EQ(std::get<FoundFile>(outcome).output.digest, Digest::Of("bytes of .ktx2"));
  EXPECT_EQ(std::get<FoundFile>(outcome).key, Digest::Of("key"));
}

TEST(PathReadTest, APathHasGeneratorsWhereOnePackageIsGenerated) {
  PathOwner generated = Owner("/Game/a.level/_gen/x.png", ".ktx2");
  generated.generators = {"/Game/a.level"};
  const PathOwner plain = Owner("/Game/a.png", ".ktx2");
  EXPECT_FALSE(PathRead("Game/a", {.owners = {plain}, .twins = {plain}}).HasGenerators());
  EXPECT_TRUE(PathRead("Game/a", {.owners = {plain, generated}}).HasGenerators());
  EXPECT_TRUE(PathRead("Game/a", {.owners = {plain}, .twins = {generated}}).HasGenerators());
}

TEST(PathReadTest, APathWithoutOwnersIsAbsentAndNothingIsCooked) {
  PathRead read("Game/none", {.twins = {Owner("/Game/None", "")}});
  EXPECT_THAT(read.Wanted(), IsEmpty());
  EXPECT_TRUE(std::holds_alternative<NoFile>(read.Decide()));
}

TEST(PathReadTest, AnOutputThatTheCookDidNotMakeIsAbsent) {
  PathRead read("Game/a.glb.d/lod9", {.owners = {Owner("/Game/a.glb", ".d/lod9")}});
  read.TakeFiles("/Game/a.glb", Files({".glb", ".d/lod1"}));
  EXPECT_TRUE(std::holds_alternative<NoFile>(read.Decide()));
}

TEST(PathReadTest, AFailedPackageIsItsError) {
  PathRead read("Game/a.png.ktx2", {.owners = {Owner("/Game/a.png", ".ktx2")}});
  read.TakeFault("/Game/a.png", Fault("/Game/a.png"));
  EXPECT_EQ(std::get<PackageFault>(read.Decide()), Fault("/Game/a.png"));
}

TEST(PathReadTest, APackageThatIsJudgedAwayIsNotCookedAndGivesThatError) {
  PathOwner owner = Owner("/Game/a.png", ".ktx2");
  owner.error = "is never cooked";
  PathRead read("Game/a.png.ktx2", {.owners = {owner}});
  EXPECT_THAT(read.Wanted(), IsEmpty());
  EXPECT_EQ(std::get<PackageFault>(read.Decide()).error, "is never cooked");
}

class SeveralOwnersTest : public testing::Test {
 protected:
  PathRead read_{"Game/a.png.ktx2",
                 {.owners = {Owner("/Game/a.png", ".ktx2"), Owner("/Game/a.png.ktx2", "")}}};
};

TEST_F(SeveralOwnersTest, AllAreCookedBeforeAnyIsBelieved) {
  read_.TakeFiles("/Game/a.png", Files({".ktx2"}));
  EXPECT_THAT(read_.Wanted(), ElementsAre("/Game/a.png.ktx2"));
}

TEST_F(SeveralOwnersTest, TwoThatHaveThePathAreInConflict) {
  read_.TakeFiles("/Game/a.png", Files({".ktx2"}));
  read_.TakeFiles("/Game/a.png.ktx2", Files({""}));
  const auto conflict = std::get<devices::PathConflict>(read_.Decide());
  EXPECT_EQ(conflict.path, "Game/a.png.ktx2");
  EXPECT_THAT(conflict.packages, ElementsAre("/Game/a.png", "/Game/a.png.ktx2"));
}

TEST_F(SeveralOwnersTest, OneThatFailsIsInConflictWithNobody) {
  read_.TakeFault("/Game/a.png", Fault("/Game/a.png"));
  read_.TakeFiles("/Game/a.png.ktx2", Files({""}));
  EXPECT_EQ(std::get<FoundFile>(read_.Decide()).package, "/Game/a.png.ktx2");
}

TEST(PathReadTest, ATwinButForCaseIsInConflictToo) {
  PathRead read("Game/a.png.ktx2", {.owners = {Owner("/Game/a.png", ".ktx2")},
                                    .twins = {Owner("/Game/a.PNG", ".ktx2")}});
  EXPECT_THAT(read.Wanted(), ElementsAre("/Game/a.PNG", "/Game/a.png"));
  read.TakeFiles("/Game/a.png", Files({".ktx2"}));
  read.TakeFiles("/Game/a.PNG", Files({".ktx2"}));
  EXPECT_TRUE(std::holds_alternative<devices::PathConflict>(read.Decide()));
}

class GeneratedReadTest : public testing::Test {
 protected:
  static PathOwner Cell() {
    PathOwner owner = Owner("/Game/town.level/_gen/cell.level", ".bin");
    owner.generators = {"/Game/town.level"};
    owner.generated_name = "_gen/cell.level";
    return owner;
  }
  PathRead read_{"Game/town.level/_gen/cell.level.bin", {.owners = {Cell()}}};
};

TEST_F(GeneratedReadTest, TheGeneratorIsCookedFirst) {
  EXPECT_THAT(read_.Wanted(), ElementsAre("/Game/town.level"));
  read_.TakeFiles("/Game/town.level", Files({".bin"}, {"Game/town.level/_gen/cell.level"}));
  EXPECT_THAT(read_.Wanted(), ElementsAre("/Game/town.level/_gen/cell.level"));
  read_.TakeFiles("/Game/town.level/_gen/cell.level", Files({".bin"}));
  EXPECT_TRUE(std::holds_alternative<FoundFile>(read_.Decide()));
}

TEST_F(GeneratedReadTest, AReadIsOneOfTheGeneratorToo) {
  EXPECT_THAT(read_.Packages(),
              ElementsAre("/Game/town.level", "/Game/town.level/_gen/cell.level"));
}

TEST_F(GeneratedReadTest, ANameThatTheGeneratorDoesNotListIsAbsent) {
  read_.TakeFiles("/Game/town.level", Files({".bin"}, {"Game/town.level/_gen/other.level"}));
  EXPECT_THAT(read_.Wanted(), IsEmpty());
  EXPECT_TRUE(std::holds_alternative<NoFile>(read_.Decide()));
}

TEST_F(GeneratedReadTest, AGeneratorThatFailsIsItsError) {
  read_.TakeFault("/Game/town.level", Fault("/Game/town.level"));
  EXPECT_EQ(std::get<PackageFault>(read_.Decide()).package, "/Game/town.level");
}

TEST(PathReadTest, AGeneratorMayBeGeneratedItself) {
  PathOwner owner = Owner("/Game/a.level/_gen/b.level/_gen/c.level", "");
  owner.generators = {"/Game/a.level", "/Game/a.level/_gen/b.level"};
  PathRead read("Game/a.level/_gen/b.level/_gen/c.level", {.owners = {owner}});
  read.TakeFiles("/Game/a.level", Files({}, {"Game/a.level/_gen/b.level"}));
  EXPECT_THAT(read.Wanted(), ElementsAre("/Game/a.level/_gen/b.level"));
  read.TakeFiles("/Game/a.level/_gen/b.level",
                 Files({}, {"Game/a.level/_gen/b.level/_gen/c.level"}));
  EXPECT_THAT(read.Wanted(), ElementsAre("/Game/a.level/_gen/b.level/_gen/c.level"));
}

}  // namespace
}  // namespace galley::director
