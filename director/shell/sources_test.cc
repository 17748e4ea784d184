#include "director/shell/sources.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::Observation;
using record::ObservationKind;
using record::Observed;

class SourcesTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a/x.txt", "x");
    Write("content/a/sub/deep.txt", "deep");
    Write("content/inc/y.txt", "y");
    Write("tools/pack.py", "pack");
  }
  // Returns the value that /Game/a/x.txt sees, "needs <package>", or the error's text.
  std::string Value(ObservationKind kind, std::string subject, std::string detail = "",
                    PlatformIndex platform = 0) {
    if (world_ == nullptr) world_ = MakeWorld();
    std::string needs;
    const auto value = ValueOf(
        *SourcesOf(world_), {kind, std::move(subject), std::move(detail)},
        {.package = "/Game/a/x.txt", .platform = project_.platforms[platform], .cooked = cooked_},
        &needs);
    if (!value.ok()) return value.status().ToString();
    return needs.empty() ? *value : "needs " + needs;
  }
  // Returns "yes", "no" or the error's text.
  std::string Holds(std::vector<Observed> observed) {
    if (world_ == nullptr) world_ = MakeWorld();
    const auto holds = StillHolds(
        *SourcesOf(world_),
        {.package = "/Game/a/x.txt", .platform = project_.platforms[0], .cooked = cooked_},
        observed, &stale_path_);
    if (!holds.ok()) return holds.status().ToString();
    return *holds ? "yes" : "no";
  }
  // Says whether the files hold for a result of `package` with these observations.
  bool FilesHold(std::string package, const Digest& source, std::vector<Observed> observed = {}) {
    StoredResult stored;
    stored.package = std::move(package);
    stored.source = source;
    stored.observed = std::move(observed);
    return FilesStillHold(*SourcesOf(world_), stored);
  }
  static std::string DigestText(std::string_view bytes) { return Digest::Of(bytes).ToString(); }

  WorldPtr world_;
  CookedOutputs cooked_;
  std::string stale_path_;
};

TEST_F(SourcesTest, AFileIsItsDigestAFolderOrAbsent) {
  EXPECT_EQ(Value(ObservationKind::kFile, "x.txt"), DigestText("x"));
  EXPECT_EQ(Value(ObservationKind::kFile, "../inc/y.txt"), DigestText("y"));
  EXPECT_EQ(Value(ObservationKind::kFile, "/Game/inc/y.txt"), DigestText("y"));
  EXPECT_EQ(Value(ObservationKind::kFile, "sub"), "folder");
  EXPECT_EQ(Value(ObservationKind::kFile, "z.txt"), "absent");
}

TEST_F(SourcesTest, WhatLeavesTheMountsIsAbsent) {
  EXPECT_EQ(Value(ObservationKind::kFile, "../../../../etc/passwd"), "absent");
  EXPECT_EQ(Value(ObservationKind::kFile, "/etc/passwd"), "absent");
  EXPECT_EQ(Value(ObservationKind::kExists, "../../../.."), "absent");
  EXPECT_EQ(Value(ObservationKind::kList, "../../../.."), "absent");
}

TEST_F(SourcesTest, ExistenceIsToldWithoutReadingTheFile) {
  EXPECT_EQ(Value(ObservationKind::kExists, "x.txt"), "file");
  EXPECT_EQ(Value(ObservationKind::kExists, "sub"), "folder");
  EXPECT_EQ(Value(ObservationKind::kExists, "z"), "absent");
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 0u);
}

TEST_F(SourcesTest, AListShowsNamesAndFolders) {
  EXPECT_EQ(Value(ObservationKind::kList, "/Game/a"), "sub/\nx.txt\n");
  EXPECT_EQ(Value(ObservationKind::kList, "."), "sub/\nx.txt\n");
  EXPECT_EQ(Value(ObservationKind::kList, "/Game/none"), "absent");
}

TEST_F(SourcesTest, AGlobShowsPathsRelativeToItsRoot) {
  EXPECT_EQ(Value(ObservationKind::kGlob, "/Game", "**/*.txt"),
            "a/sub/deep.txt\na/x.txt\ninc/y.txt\n");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "*.txt"), "x.txt\n");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "*.png"), "");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "[a"), "") << "a malformed pattern matches nothing";
}

TEST_F(SourcesTest, ACookedInputIsItsOutputsDigestOrWantsThePackage) {
  EXPECT_EQ(Value(ObservationKind::kCooked, "../atlas.png", ".ktx2"), "needs /Game/atlas.png");
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("pixels")}};
  EXPECT_EQ(Value(ObservationKind::kCooked, "../atlas.png", ".ktx2"), DigestText("pixels"));
  EXPECT_EQ(Value(ObservationKind::kCooked, "/Game/atlas.png", ".other"), "absent");
}

TEST_F(SourcesTest, WhatThePackageGeneratedIsFoundUnderItsOwnName) {
  EXPECT_EQ(Value(ObservationKind::kCooked, "_gen/cell.txt", ""),
            "needs /Game/a/x.txt/_gen/cell.txt");
  EXPECT_EQ(AskedName("/Game/a/x.txt", "gen/cell.txt").value(), "/Game/a/gen/cell.txt");
  EXPECT_FALSE(AskedName("/Game/a/x.txt", "../../../up").ok());
}

TEST_F(SourcesTest, APlatformParameterIsThatOfTheAskersPlatform) {
  EXPECT_EQ(Value(ObservationKind::kPlatform, "texture", "", 0), "=bc");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "texture", "", 1), "=astc");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "name", "", 1), "=android");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "shader", "", 1), "unset");
}

TEST_F(SourcesTest, AToolIsReadAgainOnlyWhenItsFileChanged) {
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/pack.py"), DigestText("pack"));
  EXPECT_EQ(Value(ObservationKind::kTool, Host("tools/pack.py")), DigestText("pack"));
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/none"), "absent");
  EXPECT_EQ(Value(ObservationKind::kTool, "tools"), "absent") << "a folder is no tool";
  Write("tools/pack.py", "another pack");
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/pack.py"), DigestText("another pack"));
}

TEST_F(SourcesTest, AnEmptyVariableIsNotAnUnsetOne) {
  EXPECT_EQ(Value(ObservationKind::kEnv, "LEVEL"), "=9");
  EXPECT_EQ(Value(ObservationKind::kEnv, "EMPTY"), "=");
  EXPECT_EQ(Value(ObservationKind::kEnv, "NONE"), "unset");
}

TEST_F(SourcesTest, TheNameIsThePackagesOwn) {
  EXPECT_EQ(Value(ObservationKind::kName, ""), "/Game/a/x.txt");
}

TEST_F(SourcesTest, ASourceThatChangedUnderTheSnapshotIsStale) {
  world_ = MakeWorld();
  Write("content/inc/y.txt", "changed since the scan");
  EXPECT_THAT(Value(ObservationKind::kFile, "/Game/inc/y.txt"), testing::StartsWith("ABORTED"));
}

TEST_F(SourcesTest, WhatWasSeenHoldsWhileNothingDiffers) {
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("pixels")}};
  EXPECT_EQ(Holds({{{ObservationKind::kFile, "x.txt", ""}, DigestText("x")},
                   {{ObservationKind::kFile, "none", ""}, "absent"},
                   {{ObservationKind::kExists, "sub", ""}, "folder"},
                   {{ObservationKind::kList, "/Game/inc", ""}, "y.txt\n"},
                   {{ObservationKind::kGlob, "/Game/inc", "*"}, "y.txt\n"},
                   {{ObservationKind::kCooked, "../atlas.png", ".ktx2"}, DigestText("pixels")},
                   {{ObservationKind::kPlatform, "texture", ""}, "=bc"},
                   {{ObservationKind::kTool, "tools/pack.py", ""}, DigestText("pack")},
                   {{ObservationKind::kEnv, "LEVEL", ""}, "=9"},
                   {{ObservationKind::kName, "", ""}, "/Game/a/x.txt"}}),
            "yes");
}

TEST_F(SourcesTest, EachKindOfDifferenceIsFound) {
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("pixels")}};
  const std::vector<Observed> wrong = {
      {{ObservationKind::kFile, "x.txt", ""}, "absent"},
      {{ObservationKind::kFile, "none", ""}, DigestText("x")},
      {{ObservationKind::kExists, "sub", ""}, "absent"},
      {{ObservationKind::kList, "/Game/inc", ""}, "y.txt\nz.txt\n"},
      {{ObservationKind::kGlob, "/Game/inc", "*"}, ""},
      {{ObservationKind::kCooked, "../atlas.png", ".ktx2"}, DigestText("others")},
      {{ObservationKind::kCooked, "../unknown.png", ".ktx2"}, DigestText("pixels")},
      {{ObservationKind::kPlatform, "texture", ""}, "=astc"},
      {{ObservationKind::kTool, "tools/pack.py", ""}, DigestText("x")},
      {{ObservationKind::kEnv, "LEVEL", ""}, "=8"},
      {{ObservationKind::kName, "", ""}, "/Game/b.txt"}};
  for (const Observed& one : wrong) EXPECT_EQ(Holds({one}), "no") << one.what.ToString();
}

TEST_F(SourcesTest, AWorkersDigestOfAFileIsLearnedNotReadAgain) {
  EXPECT_EQ(Holds({{{ObservationKind::kFile, "x.txt", ""}, DigestText("x")}}), "yes");
  EXPECT_EQ(world_->snapshot->KnownDigest("/Game/a/x.txt"), Digest::Of("x"));
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 0u);
}

TEST_F(SourcesTest, AnotherDigestThanTheKnownOneDoesNotHold) {
  world_ = MakeWorld();
  ASSERT_TRUE(world_->snapshot->DigestOf("/Game/a/x.txt").ok());
  EXPECT_EQ(Holds({{{ObservationKind::kFile, "x.txt", ""}, DigestText("other")}}), "no");
}

TEST_F(SourcesTest, AStaleSourceIsNamed) {
  world_ = MakeWorld();
  Write("content/inc/y.txt", "changed since the scan");
  EXPECT_THAT(Holds({{{ObservationKind::kFile, "../inc/y.txt", ""}, "absent"}}),
              testing::StartsWith("ABORTED"));
  EXPECT_EQ(stale_path_, "/Game/inc/y.txt");
}

// FilesStillHold is the part that a difference of files decides.
TEST_F(SourcesTest, FilesHoldWhileSourceFilesAndListingsAreAsTheyWere) {
  world_ = MakeWorld();
  const auto hold = [this](const Digest& source, std::vector<Observed> observed) {
    return FilesHold("/Game/a/x.txt", source, std::move(observed));
  };
  const Digest source = Digest::Of("x");
  EXPECT_TRUE(hold(
      source, {{{ObservationKind::kFile, "../inc/y.txt", ""}, DigestText("y")},
               {{ObservationKind::kList, "/Game/inc", ""}, "y.txt\n"},
               {{ObservationKind::kEnv, "LEVEL", ""}, "=another, which is no matter of files"}}));
  EXPECT_FALSE(hold(Digest::Of("another source"), {}));
  const std::vector<Observed> wrong = {{{ObservationKind::kFile, "../inc/y.txt", ""}, "absent"},
                                       {{ObservationKind::kExists, "sub", ""}, "absent"},
                                       {{ObservationKind::kList, "/Game/inc", ""}, ""},
                                       {{ObservationKind::kGlob, "/Game/inc", "*"}, ""}};
  for (const Observed& one : wrong) EXPECT_FALSE(hold(source, {one})) << one.what.ToString();
  EXPECT_TRUE(FilesHold("/Game/a/x.txt/_gen/cell.txt", Digest::Of("cell")))
      << "a generated source is no file";
  EXPECT_FALSE(FilesHold("/Game/a/gone.txt", source)) << "its file is gone, or has another name";
}

TEST_F(SourcesTest, WhatWasFoundToHoldIsNotLookedAtAgain) {
  world_ = MakeWorld();
  StoredResult stored;
  stored.package = "/Game/a/x.txt";
  stored.source = Digest::Of("x");
  stored.observed = {{{ObservationKind::kFile, "../inc/y.txt", ""}, DigestText("y")}};
  stored.holds_in = world_->number;
  EXPECT_TRUE(FilesStillHold(*SourcesOf(world_), stored));
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 0u);
  stored.holds_in = world_->number + 1;
  EXPECT_TRUE(FilesStillHold(*SourcesOf(world_), stored));
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 2u);
}

TEST_F(SourcesTest, RecipesAreThoseOfFilesOrOfWhatWasGenerated) {
  world_ = MakeWorld();
  const SourcesPtr sources = SourcesOf(world_);
  EXPECT_EQ(sources->RecipesOf("/Game/a/x.txt", false), world_->table->RecipesOf("/Game/a/x.txt"));
  EXPECT_NE(sources->RecipesOf("/Game/a/x.txt", false), nullptr);
  EXPECT_EQ(sources->RecipesOf("/Game/a/none.txt", false), nullptr);
  const std::string generated = "/Game/a/x.txt/_gen/cell.txt";
  EXPECT_EQ(sources->RecipesOf(generated, true), nullptr) << "nobody told of it";
  ASSERT_EQ(world_->table->Generated(generated, "copy", "{}").error, "");
  EXPECT_NE(sources->RecipesOf(generated, true), nullptr);
  EXPECT_EQ(sources->RecipesOf(generated, false), nullptr) << "it is no file";
}

}  // namespace
}  // namespace galley::director
