#include "director/shell/likely_reads.h"

#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Reads of a cook of /Game/x/a.txt for windows and android.
class LikelyReadsTest : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    for (const char* file : {"x/a.txt", "x/inc.txt", "y.txt", "changed.txt"})
      Write(std::string("content/") + file, file);
    world_ = MakeWorld();
    attempt_ = {.name = "/Game/x/a.txt",
                .platforms = MaskOf(0),
                .numbering = SourcesOf(world_)->platforms(),
                .cooked = {{{"/Game/b.txt", {{".out", Digest::Of("b")}, {".log", Digest::Of("l")}}},
                            {"/Game/x/a.txt/_gen/c", {{".out", Digest::Of("c")}}}}}};
  }
  void Saw(const std::string& platform, ObservationKind kind, const std::string& subject,
           const std::string& detail = "", const std::string& value = "") {
    record_.platforms[platform].observed.push_back(
        {{kind, subject, detail}, value.empty() ? Digest::Of("then").ToString() : value});
  }
  void SawFile(const std::string& path) { Saw("windows", ObservationKind::kFile, path); }
  void SawCooked(const std::string& package, const std::string& suffix) {
    Saw("windows", ObservationKind::kCooked, package, suffix);
  }
  // Returns paths, and the texts of blobs in angle brackets.
  std::vector<std::string> Reads() {
    std::vector<std::string> names;
    for (const LikelyRead& read : LikelyReadsOf(*SourcesOf(world_), attempt_, record_)) {
      std::string name = read.path;
      for (const char* blob : {"b", "l", "c"}) {
        if (read.path.empty() && read.digest == Digest::Of(blob))
          name = std::string("<") + blob + ">";
      }
      names.push_back(name);
    }
    return names;
  }

  WorldPtr world_;
  AttemptInfo attempt_;
  PackageRecord record_;
};

TEST_F(LikelyReadsTest, FilesAndCookedOutputsThatWereReadAreReadAgain) {
  SawFile("../y.txt");
  SawFile("/Game/changed.txt");
  SawFile("inc.txt");
  SawCooked("../b.txt", ".out");
  SawCooked("_gen/c", ".out");
  EXPECT_THAT(Reads(),
              ElementsAre("/Game/y.txt", "/Game/changed.txt", "/Game/x/inc.txt", "<b>", "<c>"));
}

TEST_F(LikelyReadsTest, WhatOnlyLookedIsNotRead) {
  Saw("windows", ObservationKind::kFile, "../z.txt", "", std::string(record::kAbsent));
  Saw("windows", ObservationKind::kFile, "..", "", std::string(record::kFolder));
  Saw("windows", ObservationKind::kExists, "../y.txt", "", std::string(record::kIsFile));
  Saw("windows", ObservationKind::kList, "..", "", "y.txt\n");
  Saw("windows", ObservationKind::kTool, "tools/x");
  Saw("windows", ObservationKind::kCooked, "../b.txt", ".pdb", std::string(record::kAbsent));
  EXPECT_THAT(Reads(), IsEmpty());
}

TEST_F(LikelyReadsTest, WhatIsNotThereTodayAndTheSourceAreLeftOut) {
  SawFile("../gone.txt");
  SawFile("a.txt");
  SawFile("../../../climbs");
  SawCooked("../not-given.txt", ".out");
  SawCooked("../b.txt", ".gone");
  EXPECT_THAT(Reads(), IsEmpty());
}

TEST_F(LikelyReadsTest, EachIsNamedOnceForThePlatformsOfTheAttempt) {
  SawFile("../y.txt");
  SawFile("/Game/y.txt");
  Saw("android", ObservationKind::kFile, "../y.txt");
  Saw("android", ObservationKind::kFile, "inc.txt");
  Saw("android", ObservationKind::kCooked, "../b.txt", ".out");
  Saw("xbox", ObservationKind::kFile, "../changed.txt");
  EXPECT_THAT(Reads(), ElementsAre("/Game/y.txt"));
  attempt_.platforms = MaskOf(0) | MaskOf(1);
  EXPECT_THAT(Reads(), ElementsAre("/Game/y.txt", "/Game/x/inc.txt"))
      << "b was not given for android";
}

TEST_F(LikelyReadsTest, ADigestIsToldIfItIsKnown) {
  SawFile("../y.txt");
  const auto told = [&] { return LikelyReadsOf(*SourcesOf(world_), attempt_, record_).at(0); };
  EXPECT_EQ(told().digest, std::nullopt) << "nobody has read it";
  ASSERT_TRUE(world_->snapshot->DigestOf("/Game/y.txt").ok());
  EXPECT_EQ(told().digest, Digest::Of("y.txt")) << "today's, whatever it was then";
}

TEST_F(LikelyReadsTest, ThereIsALimit) {
  for (size_t i = 0; i < kLikelyReadsMax + 10; ++i) {
    Write("content/many/" + std::to_string(i), "");
    SawFile("/Game/many/" + std::to_string(i));
  }
  world_ = MakeWorld();
  EXPECT_THAT(Reads(), SizeIs(kLikelyReadsMax));
}

}  // namespace
}  // namespace galley::director
