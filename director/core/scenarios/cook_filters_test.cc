// Cooks with different filters (CookFilter) in one core: packages that only one cook leaves out,
// and variants that only one cook takes.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "director/core/scenarios/core_harness.h"
#include "director/core/testing/name_filter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CookOptions Several(uint32_t platforms = 1) {
  return {.platform_count = platforms, .workers = 1, .cooks_max = 4};
}

void WorkAll(CoreHarness& shell) {
  for (int i = 0; i < 6; ++i) shell.Work();
}

CookRequested OfFolder(uint64_t number, const std::vector<std::string>& names,
                       std::shared_ptr<const CookFilter> filter) {
  CookRequested request{.request = number};
  for (const std::string& name : names)
    request.selected.push_back({name, InstigatorCategory::kCommandLineDirectory});
  request.filter = std::move(filter);
  return request;
}

// ------------------------------------------------------------------ references

constexpr const char* kRefersToNever =
    "failed A: refers to 'N' (hard): expected a package: it is never cooked ([cook] never or "
    "--never) [1]";

TEST(CookFiltersTest, APackageThatOneCookLeavesOutIsCookedForAnother) {
  CoreHarness shell("A -> N\nN -> T\nT\n", Several());
  shell.Request({"A"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"A"}, {.request = 2});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr(kRefersToNever), HasSubstr("root of 1:\n")));
  EXPECT_THAT(log, AllOf(HasSubstr("done N [2]"), HasSubstr("done T [2]"),
                         HasSubstr("root of 2: A N T\n")));
  EXPECT_EQ(shell.core().counters(1).in_cook, 1u);
  EXPECT_EQ(shell.core().counters(1).failed, 1u);
}

TEST(CookFiltersTest, ACookThatComesLaterAndLeavesOutWhatIsCookedFailsAlone) {
  CoreHarness shell("A -> N\nN\nX\n", Several());
  shell.Request({"A", "X"}, {.request = 2});
  shell.Saved("A");
  shell.Saved("N");
  shell.Request({"A"}, {.request = 1, .filter = Never({"N"})});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr(kRefersToNever), HasSubstr("root of 1:\n"),
                                     HasSubstr("ended [1]"), Not(HasSubstr("done N [1]"))));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A N X\n"));
}

TEST(CookFiltersTest, ASoftReferenceToWhatIsLeftOutIsAWarningOfThatCook) {
  CoreHarness shell("A -> N?\nN\n", Several());
  shell.Request({"A"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"A"}, {.request = 2});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("warned A: refers to 'N' (soft): expected a package: it is "
                                   "never cooked ([cook] never or --never) [1]"),
                         HasSubstr("root of 1: A\n"), HasSubstr("root of 2: A N\n")));
  EXPECT_EQ(CountOf("warned", log), 1u);
}

TEST(CookFiltersTest, ReasonsAreOfTheCooksThatHaveThePackage) {
  CoreHarness shell("A -> N\nN\nX\n", Several());
  shell.Request({"A", "X"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"A", "N", "X"}, {.request = 2});
  shell.Saved("A");
  const auto reasons_in = [&](uint64_t cook) {
    size_t count = 0;
    shell.core().ForEachReasonIn(
        cook, [&](PackageId package, const InstigatorView&) { count += package == shell.Id("N"); });
    return count;
  };
  EXPECT_EQ(reasons_in(1), 0u);
  EXPECT_EQ(reasons_in(2), 2u);
}

// ------------------------------------------------------------------ selections

TEST(CookFiltersTest, OneThatIsNamedFailsInItsCookAlone) {
  CoreHarness shell("A\nN\nX\n", Several());
  shell.Request({"A", "N", "X"}, {.request = 1, .filter = Never({"N"})});
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("failed N: is never cooked: [cook] never or --never matches it [1]"),
                    Not(HasSubstr("start N"))));
  shell.Request({"N"}, {.request = 2});
  shell.Saved("N");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("done N [2]"), HasSubstr("root of 2: N\n")));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 1: A X\n"));
  EXPECT_EQ(shell.core().counters(1).in_cook, 3u);
  EXPECT_EQ(shell.core().counters(1).failed, 1u);
  EXPECT_EQ(shell.core().counters(1).results_wanted, 3u);
  EXPECT_EQ(shell.core().counters(1).results_failed, 1u);
}

TEST(CookFiltersTest, OneThatIsNamedAfterAnotherCookMadeItFailsAsWell) {
  CoreHarness shell("N\nX\n", Several());
  shell.Request({"N", "X"}, {.request = 2});
  shell.Saved("N");
  shell.TakeLog();
  shell.Request({"N", "X"}, {.request = 1, .filter = Never({"N"})});
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("failed N: is never cooked"), Not(HasSubstr("done N"))));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 1: X\n"), HasSubstr("root of 2: N X\n")));
}

TEST(CookFiltersTest, OneOfAFolderStaysOut) {
  CoreHarness shell("A\nN\n", Several());
  shell.Request({}, OfFolder(1, {"A", "N"}, Never({"N"})));
  shell.Request({}, OfFolder(2, {"A", "N"}, nullptr));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 1: A\n"), HasSubstr("root of 2: A N\n"),
                                     Not(HasSubstr("failed"))));
  EXPECT_EQ(shell.core().counters(1).in_cook, 1u);
}

// Alone, a cook of the names of nothing but packages that are left out is refused before.
TEST(CookFiltersTest, WhenTheOnlyOtherPackageIsGoneTheRootIsEmptyAndNotMissing) {
  CoreHarness shell("N\n", Several());
  shell.Request({"Gone", "N"}, {.request = 1, .filter = Never({"N"})});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("failed Gone: unknown package"),
                                     HasSubstr("failed N: is never cooked"),
                                     HasSubstr("root of 1:\n"), HasSubstr("publish 0 of 1")));
}

TEST(CookFiltersTest, OneThatIsNamedStopsACookThatFailsFast) {
  CoreHarness shell("A\nN\n", Several());
  shell.Request({"A"}, {.request = 2});
  shell.Request({"N", "A"}, {.request = 1, .fail_fast = true, .filter = Never({"N"})});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("ended fail-fast [1]"));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A\n"));
}

TEST(CookFiltersTest, PeopleWhoAskForItAreToldThatItFailed) {
  CoreHarness shell("A\nN\n", Several());
  shell.Request({"A", "N"}, {.request = 1, .filter = Never({"N"})});
  EXPECT_EQ(shell.TellState("N"), "Idle, failed");
}

TEST(CookFiltersTest, OneThatIsNamedAndRenamedIsWantedUnderANameThatIsCooked) {
  CoreHarness shell("N\nX\n", Several());
  shell.Request({"N", "X"}, {.request = 1, .filter = Never({"N"})});
  ASSERT_TRUE(shell.Says("failed N: is never cooked"));
  shell.ChangeProject("M\nX\n");
  shell.Send(FilesChanged{.catalog = shell.project(), .renamed = {{"N", "M"}}});
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("left N [1]"), HasSubstr("done M [1]"),
                                     HasSubstr("root of 1: M X\n")));
  EXPECT_EQ(shell.core().counters(1).failed, 0u);
}

TEST(CookFiltersTest, OneThatIsRenamedUnderASettledCookIsWantedWhenTheCookIsOpenedAgain) {
  CoreHarness shell("N\nX\n", Several());
  shell.hold_roots = true;
  shell.Request({"N", "X"}, {.request = 1, .filter = Never({"N"})});
  shell.Saved("X");
  ASSERT_EQ(shell.roots.size(), 1u) << shell.TakeLog();
  shell.ChangeProject("M\nX\n");
  shell.Send(FilesChanged{.catalog = shell.project(), .renamed = {{"N", "M"}}});
  EXPECT_EQ(shell.core().counters(1).failed, 1u);
  RootBuilt built = WholeRoot(shell.roots.front());
  built.lost = {{.package = shell.Id("X"), .path = "X", .digest = Digest::Of("X")}};
  shell.Send(built);
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("left N [1]"), HasSubstr("done M [1]"),
                                     HasSubstr("root of 1: M X\n")));
  EXPECT_EQ(shell.core().counters(1).failed, 0u);
}

TEST(CookFiltersTest, PlatformsThatAreAddedCountForOneThatIsNamed) {
  CoreHarness shell("A\nN\n", Several());
  shell.Request({"A", "N"}, {.request = 1, .filter = Never({"N"})});
  shell.Send(PlatformsChanged{.mapping = {PlatformIndex{0}},
                              .platform_count = 2,
                              .added = {{.request = 1, .platforms = 0b10}}});
  EXPECT_EQ(shell.core().counters(1).results_failed, 2u);
  EXPECT_EQ(shell.core().counters(1).results_wanted, 4u);
}

// ------------------------------------------------------------------ generated packages

TEST(CookFiltersTest, PackagesOfAGeneratorThatIsLeftOutAreLeftOut) {
  CoreHarness shell("G : a\nP -> G/_gen/a\n", Several());
  shell.Request({"P"}, {.request = 1, .filter = Never({"G"})});
  shell.Request({"P"}, {.request = 2});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("failed P: refers to 'G/_gen/a' (hard): expected a package: G "
                                   "does not generate it [1]"),
                         HasSubstr("root of 1:\n"), HasSubstr("root of 2: G/_gen/a P\n")));
  EXPECT_EQ(CountOf("failed", log), 1u);
}

TEST(CookFiltersTest, AGeneratedPackageThatIsLeftOutIsNoErrorIfItsGeneratorListsIt) {
  CoreHarness shell("G : a\nP -> G/_gen/a\nQ -> G/_gen/b\n", Several());
  shell.Request({"P", "Q"}, {.request = 1, .filter = Never({"G/_gen/a", "G/_gen/b"})});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("start G"), HasSubstr("root of 1: P\n"),
                         Not(HasSubstr("failed P")), Not(HasSubstr("start G/_gen/a"))));
  EXPECT_THAT(log, HasSubstr("failed Q: refers to 'G/_gen/b' (hard): expected a package: G does "
                             "not generate it"));
}

TEST(CookFiltersTest, OneThatIsNamedFailsIfItsGeneratorIsLeftOut) {
  CoreHarness shell("G : a\nX\n", Several());
  shell.Request({"G/_gen/a", "X"}, {.request = 1, .filter = Never({"G"})});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("failed G/_gen/a: G does not generate it: expected"),
                                     Not(HasSubstr("start G"))));
}

// ------------------------------------------------------------------ cooked inputs

constexpr const char* kReadsNever =
    "failed A: cooked input N: expected a package: it is never cooked ([cook] never or --never) "
    "[1]";

TEST(CookFiltersTest, ACookedInputThatIsLeftOutFailsItsReaderInThatCookAlone) {
  CoreHarness shell("A < N\nN\n", Several());
  shell.Request({"A"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"A"}, {.request = 2});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"N", 0});
  // The first cook does not wait for an input that is not in it.
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr(kReadsNever), HasSubstr("ended [1]")));
  shell.Saved("N");
  shell.Saved("A");
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("done N [2]"), HasSubstr("done A [2]"), HasSubstr("root of 2: A\n")));
}

TEST(CookFiltersTest, WithoutAnotherCookTheReaderOfWhatIsLeftOutIsNotCooked) {
  CoreHarness shell("A < N\nN\n", Several());
  shell.Request({"A"}, {.request = 1, .filter = Never({"N"})});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"N", 0});
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr(kReadsNever), Not(HasSubstr("start N"))));
}

// Another cook tries the reader again, and so finds out to what it refers.
TEST(CookFiltersTest, AReaderOfWhatIsLeftOutRefersToNothingInThatCook) {
  CoreHarness shell("A -> B < N\nN\nB ! bad\nX\n", Several());
  shell.Request({"A", "B", "X"}, {.request = 1, .filter = Never({"N"})});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"N", 0});
  shell.Saved("B");
  ASSERT_THAT(shell.TakeLog(), HasSubstr(kReadsNever));
  shell.Request({"A"}, {.request = 2});
  shell.Report(HarnessJob(shell.JobOf("A")), WorkerReport::Needs{"N", 0});
  shell.Saved("N");
  shell.Saved("A");
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("warned A: refers to B, which failed [2]"),
                         Not(HasSubstr("refers to B, which failed [1]"))));
}

TEST(CookFiltersTest, AResultOfAnInputThatIsNotHeardOfDoesNotCountEither) {
  CoreHarness shell("A < N\nX\n", Several());
  shell.Request({"X", "A"}, {.request = 1, .filter = Never({"N"})});
  shell.Saved("A");
  shell.Saved("X");
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr(kReadsNever), HasSubstr("root of 1: X\n")));
}

TEST(CookFiltersTest, AResultThatWasMadeOfWhatIsLeftOutDoesNotCount) {
  CoreHarness shell("A < N\nN\nB < A\nC -> B\nX\n", Several());
  shell.Request({"A", "B", "N", "X"}, {.request = 2});
  for (const char* name : {"N", "A", "B"}) shell.Saved(name);
  shell.TakeLog();
  shell.Request({"C"}, {.request = 1, .filter = Never({"N"})});
  shell.Saved("C");
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("root of 1: C\n"), HasSubstr("warned C: refers to B, which"),
                         HasSubstr("failed B: cooked input A failed [1]")));
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(), HasSubstr("root of 2: A B N X\n"));
}

TEST(CookFiltersTest, WhenTheOtherCookIsCancelledNothingIsMadeForTheCookThatLeavesItOut) {
  CoreHarness shell("A -> N\nN\nX\n", Several());
  shell.Request({"A", "N", "X"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"N"}, {.request = 2});
  ASSERT_TRUE(shell.HasOpenJob("N"));
  shell.Send(CancelRequested{2});
  EXPECT_THAT(shell.TakeLog(), HasSubstr("cancel N"));
}

// ------------------------------------------------------------------ cultures

TEST(CookFiltersTest, EachCookTakesTheVariantsOfItsCultures) {
  CoreHarness shell("A @culture A.en de=A.de fr=A.fr\nA.en\nA.de\nA.fr -> F\nF\n", Several());
  shell.Request({"A"}, {.request = 1, .filter = OfCulture("de")});
  shell.Request({"A"}, {.request = 2, .filter = OfCulture("fr")});
  shell.Request({"A"}, {.request = 3});
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("root of 1: A A.de\n"), HasSubstr("root of 2: A A.fr F\n"),
                    HasSubstr("root of 3: A A.en\n"), HasSubstr("done A.de [1]\n")));
  EXPECT_EQ(shell.core().counters(1).in_cook, 2u);
}

TEST(CookFiltersTest, ACookThatComesLaterTakesVariantsThatNoCookHadBefore) {
  CoreHarness shell("A @culture de=A.de fr=A.fr\nA.de\nA.fr\nX\n", Several());
  shell.Request({"A", "X"}, {.request = 1, .filter = OfCulture("de")});
  shell.Saved("A");
  shell.Saved("A.de");
  shell.Request({"A"}, {.request = 2, .filter = OfCulture("fr")});
  shell.Saved("A.fr");
  shell.Request({"A"}, {.request = 3, .filter = OfCulture("de")});
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("root of 1: A A.de X\n"), HasSubstr("root of 2: A A.fr\n"),
                         HasSubstr("root of 3: A A.de\n")));
  EXPECT_EQ(CountOf("start A.de", log), 1u);
}

// An input is in the cook, and not in the tree; a variant of another cook's culture stays so.
TEST(CookFiltersTest, AVariantOfAnotherCookIsNotInTheTree) {
  CoreHarness shell("A @culture de=A.de\nA.de\nB < A.de\nX\n", Several());
  shell.Request({"A", "X"}, {.request = 1, .filter = OfCulture("de")});
  shell.Request({"A", "B"}, {.request = 2, .filter = OfCulture("fr")});
  shell.Report(HarnessJob(shell.JobOf("B")), WorkerReport::Needs{"A.de", 0});
  for (const char* name : {"A", "A.de", "B", "X"}) shell.Saved(name);
  EXPECT_THAT(shell.TakeLog(), AllOf(HasSubstr("root of 1: A A.de X\n"),
                                     HasSubstr("done A.de [1 2]"), HasSubstr("root of 2: A B\n")));
}

// ------------------------------------------------------------------ changes

TEST(CookFiltersTest, AChangedProjectIsJudgedByTheFilterOfEachCook) {
  CoreHarness shell("A -> N\nN\nX\nY\n", Several());
  shell.Request({"A", "X"}, {.request = 1, .filter = Never({"N"})});
  shell.Request({"A", "Y"}, {.request = 2, .filter = Never({"M"})});
  shell.Saved("A");
  shell.Saved("N");
  shell.ChangeProject("A -> M\nM\nN\nX\nY\n");
  shell.Send(FilesChanged{shell.project(), {"A", "M"}, {}});
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("root of 1: A M X\n"), HasSubstr("root of 2: Y\n"),
                    HasSubstr("failed A: refers to 'M' (hard): expected a package: it is never "
                              "cooked ([cook] never or --never) [2]")));
}

TEST(CookFiltersTest, AVariantThatComesJoinsTheCooksOfItsCulture) {
  CoreHarness shell("A\nX\nY\n", Several());
  shell.Request({"A", "X"}, {.request = 1, .filter = OfCulture("de")});
  shell.Request({"A", "Y"}, {.request = 2, .filter = OfCulture("fr")});
  shell.Saved("A");
  shell.ChangeProject("A @culture de=A.de\nA.de\nX\nY\n");
  shell.Send(FilesChanged{shell.project(), {"A.de"}, {}});
  WorkAll(shell);
  EXPECT_THAT(shell.TakeLog(),
              AllOf(HasSubstr("root of 1: A A.de X\n"), HasSubstr("root of 2: A Y\n")));
}

// StandsAll: each package stands.
class StandsAll final : public StandingPackages {
 public:
  bool Has(std::string_view package) const override { return package != "A"; }
  bool WasInCook(std::string_view) const override { return true; }
};

TEST(CookFiltersTest, ACookIsWidenedBesideOneThatLeavesSomethingOut) {
  CoreHarness shell("A -> S\nS -> N\nN\n", Several());
  shell.hold_roots = true;
  shell.Request({}, {.request = 1,
                     .selected = {{"A", InstigatorCategory::kIterativeCook}},
                     .standing = std::make_shared<const StandsAll>()});
  shell.Saved("A");
  ASSERT_EQ(shell.roots.size(), 1u);
  shell.Request({"A"}, {.request = 2, .filter = Never({"N"})});
  shell.Saved("S");
  ASSERT_EQ(shell.roots.size(), 2u);
  RootBuilt narrow = WholeRoot(shell.roots.front());
  narrow.is_too_narrow = true;
  narrow.whole = {{"A", InstigatorCategory::kStartupPackage}};
  shell.TakeLog();
  shell.Send(narrow);
  WorkAll(shell);
  const std::string log = shell.TakeLog();
  EXPECT_THAT(log, AllOf(HasSubstr("done S [1]"), HasSubstr("done N [1]"),
                         HasSubstr("root of 1: A N S\n")));
  EXPECT_THAT(log, Not(HasSubstr("[2]")));
}

}  // namespace
}  // namespace galley::director
