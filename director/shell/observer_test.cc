#include "director/shell/observer.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::Observation;
using record::ObservationKind;
using record::Observed;

class ObserverTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("content/a/x.txt", "x");
    Write("content/a/sub/deep.txt", "deep");
    Write("content/inc/y.txt", "y");
    Write("tools/pack.py", "pack");
  }
  // The value that /Game/a/x.txt sees, "needs <package>", or the error's text.
  std::string Value(ObservationKind kind, std::string subject, std::string detail = "",
                    PlatformIndex platform = 0) {
    if (world_ == nullptr) world_ = MakeWorld();
    std::string needs;
    const auto value =
        Observer(*world_, tools_)
            .ValueOf({kind, std::move(subject), std::move(detail)},
                     {.package = "/Game/a/x.txt", .platform = platform, .cooked = &cooked_},
                     &needs);
    if (!value.ok()) return value.status().ToString();
    return needs.empty() ? *value : "needs " + needs;
  }
  // "yes", "no" or the error's text.
  std::string Holds(std::vector<Observed> observed) {
    if (world_ == nullptr) world_ = MakeWorld();
    const auto holds =
        StillHolds(*world_, tools_, "/Game/a/x.txt", 0, cooked_, observed, &stale_path_);
    if (!holds.ok()) return holds.status().ToString();
    return *holds ? "yes" : "no";
  }
  static std::string DigestText(std::string_view bytes) { return Digest::Of(bytes).ToString(); }

  WorldPtr world_;
  CookedOutputs cooked_;
  std::string stale_path_;
};

TEST_F(ObserverTest, AFileIsItsDigestAFolderOrAbsent) {
  EXPECT_EQ(Value(ObservationKind::kFile, "x.txt"), DigestText("x"));
  EXPECT_EQ(Value(ObservationKind::kFile, "../inc/y.txt"), DigestText("y"));
  EXPECT_EQ(Value(ObservationKind::kFile, "/Game/inc/y.txt"), DigestText("y"));
  EXPECT_EQ(Value(ObservationKind::kFile, "sub"), "folder");
  EXPECT_EQ(Value(ObservationKind::kFile, "z.txt"), "absent");
}

TEST_F(ObserverTest, WhatLeavesTheMountsIsAbsent) {
  EXPECT_EQ(Value(ObservationKind::kFile, "../../../../etc/passwd"), "absent");
  EXPECT_EQ(Value(ObservationKind::kFile, "/etc/passwd"), "absent");
  EXPECT_EQ(Value(ObservationKind::kExists, "../../../.."), "absent");
  EXPECT_EQ(Value(ObservationKind::kList, "../../../.."), "absent");
}

TEST_F(ObserverTest, ExistenceIsToldWithoutReadingTheFile) {
  EXPECT_EQ(Value(ObservationKind::kExists, "x.txt"), "file");
  EXPECT_EQ(Value(ObservationKind::kExists, "sub"), "folder");
  EXPECT_EQ(Value(ObservationKind::kExists, "z"), "absent");
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 0u);
}

TEST_F(ObserverTest, AListShowsNamesAndFolders) {
  EXPECT_EQ(Value(ObservationKind::kList, "/Game/a"), "sub/\nx.txt\n");
  EXPECT_EQ(Value(ObservationKind::kList, "."), "sub/\nx.txt\n");
  EXPECT_EQ(Value(ObservationKind::kList, "/Game/none"), "absent");
}

TEST_F(ObserverTest, AGlobShowsPathsRelativeToItsRoot) {
  EXPECT_EQ(Value(ObservationKind::kGlob, "/Game", "**/*.txt"),
            "a/sub/deep.txt\na/x.txt\ninc/y.txt\n");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "*.txt"), "x.txt\n");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "*.png"), "");
  EXPECT_EQ(Value(ObservationKind::kGlob, ".", "[a"), "") << "a malformed pattern matches nothing";
}

TEST_F(ObserverTest, ACookedInputIsItsOutputsDigestOrWantsThePackage) {
  EXPECT_EQ(Value(ObservationKind::kCooked, "../atlas.png", ".ktx2"), "needs /Game/atlas.png");
  cooked_["/Game/atlas.png"] = {{".ktx2", Digest::Of("pixels")}};
  EXPECT_EQ(Value(ObservationKind::kCooked, "../atlas.png", ".ktx2"), DigestText("pixels"));
  EXPECT_EQ(Value(ObservationKind::kCooked, "/Game/atlas.png", ".other"), "absent");
}

TEST_F(ObserverTest, WhatThePackageGeneratedIsFoundUnderItsOwnName) {
  EXPECT_EQ(Value(ObservationKind::kCooked, "_gen/cell.txt", ""),
            "needs /Game/a/x.txt/_gen/cell.txt");
  EXPECT_EQ(AskedName("/Game/a/x.txt", "gen/cell.txt").value(), "/Game/a/gen/cell.txt");
  EXPECT_FALSE(AskedName("/Game/a/x.txt", "../../../up").ok());
}

TEST_F(ObserverTest, APlatformParameterIsThatOfTheAskersPlatform) {
  EXPECT_EQ(Value(ObservationKind::kPlatform, "texture", "", 0), "=bc");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "texture", "", 1), "=astc");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "name", "", 1), "=android");
  EXPECT_EQ(Value(ObservationKind::kPlatform, "shader", "", 1), "unset");
}

TEST_F(ObserverTest, AToolIsReadAgainOnlyWhenItsFileChanged) {
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/pack.py"), DigestText("pack"));
  EXPECT_EQ(Value(ObservationKind::kTool, Host("tools/pack.py")), DigestText("pack"));
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/none"), "absent");
  EXPECT_EQ(Value(ObservationKind::kTool, "tools"), "absent") << "a folder is no tool";
  Write("tools/pack.py", "another pack");
  EXPECT_EQ(Value(ObservationKind::kTool, "tools/pack.py"), DigestText("another pack"));
}

TEST_F(ObserverTest, AnEmptyVariableIsNotAnUnsetOne) {
  EXPECT_EQ(Value(ObservationKind::kEnv, "LEVEL"), "=9");
  EXPECT_EQ(Value(ObservationKind::kEnv, "EMPTY"), "=");
  EXPECT_EQ(Value(ObservationKind::kEnv, "NONE"), "unset");
}

TEST_F(ObserverTest, TheNameIsThePackagesOwn) {
  EXPECT_EQ(Value(ObservationKind::kName, ""), "/Game/a/x.txt");
}

TEST_F(ObserverTest, ASourceThatChangedUnderTheSnapshotIsStale) {
  world_ = MakeWorld();
  Write("content/inc/y.txt", "changed since the scan");
  EXPECT_THAT(Value(ObservationKind::kFile, "/Game/inc/y.txt"), testing::StartsWith("ABORTED"));
}

TEST_F(ObserverTest, WhatWasSeenHoldsWhileNothingDiffers) {
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

TEST_F(ObserverTest, EachKindOfDifferenceIsFound) {
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

TEST_F(ObserverTest, AWorkersDigestOfAFileIsLearnedNotReadAgain) {
  EXPECT_EQ(Holds({{{ObservationKind::kFile, "x.txt", ""}, DigestText("x")}}), "yes");
  EXPECT_EQ(world_->snapshot->KnownDigest("/Game/a/x.txt"), Digest::Of("x"));
  EXPECT_EQ(world_->snapshot->counters().files_hashed, 0u);
}

TEST_F(ObserverTest, AnotherDigestThanTheKnownOneDoesNotHold) {
  world_ = MakeWorld();
  ASSERT_TRUE(world_->snapshot->DigestOf("/Game/a/x.txt").ok());
  EXPECT_EQ(Holds({{{ObservationKind::kFile, "x.txt", ""}, DigestText("other")}}), "no");
}

TEST_F(ObserverTest, AStaleSourceIsNamed) {
  world_ = MakeWorld();
  Write("content/inc/y.txt", "changed since the scan");
  EXPECT_THAT(Holds({{{ObservationKind::kFile, "../inc/y.txt", ""}, "absent"}}),
              testing::StartsWith("ABORTED"));
  EXPECT_EQ(stale_path_, "/Game/inc/y.txt");
}

// FilesStillHold is the part that a difference of files decides.
TEST_F(ObserverTest, FilesHoldWhileSourceFilesAndListingsAreAsTheyWere) {
  world_ = MakeWorld();
  const auto hold = [this](const Digest& source, std::vector<Observed> observed) {
    return FilesStillHold(*world_, tools_, "/Game/a/x.txt", source, observed);
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
  EXPECT_TRUE(
      FilesStillHold(*world_, tools_, "/Game/a/x.txt/_gen/cell.txt", Digest::Of("cell"), {}))
      << "a generated source is no file";
  EXPECT_FALSE(FilesStillHold(*world_, tools_, "/Game/a/gone.txt", source, {}))
      << "its file is gone, or has another name";
}

}  // namespace
}  // namespace galley::director
