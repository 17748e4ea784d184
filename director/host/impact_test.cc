#include "director/host/impact.h"

#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/record/result.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using record::ObservationKind;
using record::Observed;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Reason = ImpactedPackage::Reason;

class ImpactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "impact").value();
    journal_ = Journal::Open(folder_).value();
  }
  void TearDown() override {
    journal_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  void Record(const std::string& package, std::vector<Observed> observed,
              std::vector<std::string> generated = {}) {
    record::Result result{.outputs = {{".out", Digest::Of(package)}}};
    for (std::string& name : generated)
      result.details.generated.push_back({.name = std::move(name), .source = Digest::Of("x")});
    JournalUpdate update{.package = package, .platform = "pc"};
    update.record.observed = std::move(observed);
    update.record.result = record::EncodeResult(result);
    update.record.last_cook.save_time = absl::Seconds(2);
    ASSERT_TRUE(journal_->Record({{update}}, false).ok());
  }
  Impact Of(const std::string& path, bool was_there = true) {
    const std::vector<content::Change> changes = {
        {.path = path, .was_there = was_there, .is_there = true}};
    return FindImpact(*journal_, changes).value();
  }
  Impact OfGone(const std::string& path) {
    const std::vector<content::Change> changes = {
        {.path = path, .was_there = true, .is_there = false}};
    return FindImpact(*journal_, changes).value();
  }
  void Refer(const std::string& referencer, const std::string& target) {
    const std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> reasons = {
        {target, {{.category = 6, .referencer = referencer}}}};
    ASSERT_TRUE(journal_->RecordInstigators(reasons).ok());
  }
  static std::vector<std::string> NamesOf(const Impact& impact) {
    std::vector<std::string> names;
    for (const ImpactedPackage& one : impact.packages) names.push_back(one.package);
    return names;
  }

  std::string folder_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(ImpactTest, AChainLeadsFromEachPackageToAFile) {
  Record("/Game/a.vert", {{{ObservationKind::kFile, "common.glsl", ""}, "absent"}});
  Record("/Game/b.json", {{{ObservationKind::kCooked, "a.vert", ".out"}, "absent"}});
  Record("/Game/c.json", {{{ObservationKind::kCooked, "/Game/b.json", ".out"}, "absent"}});
  Record("/Game/other.json", {});
  const Impact impact = Of("/Game/common.glsl");
  EXPECT_THAT(NamesOf(impact), ElementsAre("/Game/a.vert", "/Game/b.json", "/Game/c.json"));
  EXPECT_EQ(impact.expected(), absl::Seconds(6));
  EXPECT_EQ(impact.output_bytes(), 3 * std::string("/Game/a.vert").size());
  const auto chain = impact.ChainOf("/Game/c.json");
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(TextOfReason(*chain[0]), "reads cooked(/Game/b.json, .out) of /Game/b.json");
  EXPECT_EQ(TextOfReason(*chain[1]), "reads cooked(a.vert, .out) of /Game/a.vert");
  EXPECT_EQ(TextOfReason(*chain[2]), "looks at /Game/common.glsl: file(common.glsl)");
  EXPECT_THAT(impact.ChainOf("/Game/other.json"), IsEmpty());
}

TEST_F(ImpactTest, ASourceASidecarAndWhatIsGenerated) {
  Record("/Game/a.level", {}, {"_gen/cell"});
  Record("/Game/a.level/_gen/cell", {});
  EXPECT_THAT(NamesOf(Of("/Game/a.level")),
              ElementsAre("/Game/a.level", "/Game/a.level/_gen/cell"));
  const Impact sidecar = Of("/Game/a.level.cook");
  ASSERT_EQ(sidecar.packages.size(), 2u);
  EXPECT_EQ(TextOfReason(sidecar.packages[0]), "its sidecar /Game/a.level.cook");
  EXPECT_EQ(sidecar.packages[1].reason, Reason::kGenerated);
}

TEST_F(ImpactTest, AFileThatAppearsMeetsListingsAndAbsences) {
  Record("/Game/a.run", {{{ObservationKind::kGlob, "parts", "*.part"}, ""}});
  Record("/Game/b.run", {{{ObservationKind::kExists, "parts/x.part", ""}, "absent"}});
  Record("/Game/c.run", {{{ObservationKind::kList, "elsewhere", ""}, ""}});
  const Impact impact = Of("/Game/parts/x.part", /*was_there=*/false);
  EXPECT_THAT(NamesOf(impact), ElementsAre("/Game/a.run", "/Game/b.run"));
  EXPECT_EQ(impact.packages[0].observation, "glob(parts, *.part)");
  EXPECT_THAT(NamesOf(Of("/Game/parts/x.part")), ElementsAre("/Game/b.run"));
}

TEST_F(ImpactTest, WhoeverRefersToWhatGoesIsReached) {
  Record("/Game/a.json", {});
  Record("/Game/b.json", {});
  Refer("/Game/a.json", "/Game/b.json");
  const Impact impact = OfGone("/Game/b.json");
  EXPECT_THAT(NamesOf(impact), ElementsAre("/Game/a.json", "/Game/b.json"));
  EXPECT_EQ(TextOfReason(impact.packages[0]), "refers to /Game/b.json, which is gone");
  EXPECT_THAT(NamesOf(Of("/Game/b.json")), ElementsAre("/Game/b.json"));
}

TEST_F(ImpactTest, WhoeverRefersToWhatAGoneFileGeneratedIsReached) {
  Record("/Game/a.json", {});
  Record("/Game/b.level", {}, {"_gen/cell"});
  Record("/Game/b.level/_gen/cell", {});
  Refer("/Game/a.json", "/Game/b.level/_gen/cell");
  const Impact impact = OfGone("/Game/b.level");
  EXPECT_THAT(NamesOf(impact),
              ElementsAre("/Game/a.json", "/Game/b.level", "/Game/b.level/_gen/cell"));
  EXPECT_EQ(TextOfReason(impact.packages[0]), "refers to /Game/b.level/_gen/cell, which is gone");
}

TEST_F(ImpactTest, AToolAndTheRulesReachWhatIsMadeWithThem) {
  Record("/Game/a.run", {{{ObservationKind::kTool, "tools/run", ""}, "absent"}});
  Record("/Game/b.json", {{{ObservationKind::kCooked, "a.run", ".out"}, "absent"}});
  Record("/Game/c.json", {});
  const Impact tool = FindImpact(*journal_, {.changes = {},
                                             .tools = {"/p/tools/other", "/p/tools/run"},
                                             .of_rules = false,
                                             .project_root = "/p"})
                          .value();
  EXPECT_THAT(NamesOf(tool), ElementsAre("/Game/a.run", "/Game/b.json"));
  EXPECT_EQ(TextOfReason(tool.packages[0]), "is made with /p/tools/run: tool(tools/run)");
  EXPECT_THAT(tool.unseen, ElementsAre("/p/tools/other"));
  EXPECT_THAT(ToolsOf(*journal_, "/p").value(), ElementsAre("/p/tools/run"));
  const Impact rules =
      FindImpact(*journal_, {.changes = {}, .tools = {}, .of_rules = true, .project_root = "/p"})
          .value();
  EXPECT_THAT(NamesOf(rules), ElementsAre("/Game/a.run", "/Game/b.json", "/Game/c.json"));
  EXPECT_EQ(TextOfReason(rules.packages[2]), "is cooked as galley.toml says");
}

TEST_F(ImpactTest, AFileThatNobodyLookedAtIsSaid) {
  Record("/Game/a.json", {});
  const Impact impact = Of("/Game/b.txt");
  EXPECT_THAT(impact.packages, IsEmpty());
  EXPECT_THAT(impact.unseen, ElementsAre("/Game/b.txt"));
}

TEST_F(ImpactTest, PackagesThatReadOneAnotherEnd) {
  Record("/Game/a.json", {{{ObservationKind::kCooked, "b.json", ".out"}, "absent"}});
  Record("/Game/b.json", {{{ObservationKind::kCooked, "a.json", ".out"}, "absent"}});
  const Impact impact = Of("/Game/a.json");
  EXPECT_THAT(NamesOf(impact), ElementsAre("/Game/a.json", "/Game/b.json"));
  EXPECT_EQ(impact.ChainOf("/Game/b.json").size(), 2u);
}

}  // namespace
}  // namespace galley::director
