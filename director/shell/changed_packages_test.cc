#include "director/shell/changed_packages.h"

#include "director/journal/index.h"
#include "director/shell/shell_test_world.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ChangedPackagesTest : public ShellJournalTest {
 protected:
  void SetUp() override {
    ShellJournalTest::SetUp();
    JournalUpdate update{.package = "/Game/cooked.txt", .platform = "windows"};
    update.record.observed = {{{record::ObservationKind::kFile, "inc.txt", ""}, "absent"}};
    ASSERT_TRUE(journal_->Record({{update}}, true).ok());
    ASSERT_TRUE(journal_
                    ->RecordProgress({.blamed = {{.package = "/Game/kills.txt", .own_faults = 3},
                                                 {.package = "/Game/other.txt", .own_faults = 1}}})
                    .ok());
  }
  const std::vector<content::Change> changes_ = {
      {.path = "/Game/inc.txt", .was_there = true, .is_there = true},
      {.path = "/Game/kills.txt", .was_there = true, .is_there = true},
      {.path = "/Game/new.txt", .is_there = true}};
};

TEST_F(ChangedPackagesTest, InACookWhatNeverHadAResultIsConcernedByItsOwnFile) {
  EXPECT_THAT(ChangedPackages(*journal_, changes_).value(),
              ElementsAre("/Game/cooked.txt", "/Game/inc.txt", "/Game/kills.txt", "/Game/new.txt"));
}

TEST_F(ChangedPackagesTest, AChangedSidecarConcernsThePackageThatItIsOf) {
  EXPECT_THAT(ChangedPackages(*journal_, std::vector<content::Change>{{.path = "/Game/new.txt.cook",
                                                                       .is_there = true}})
                  .value(),
              ElementsAre("/Game/new.txt", "/Game/new.txt.cook"));
}

// A sidecar makes a package of a file; readers of the package are warned when no cook holds it.
TEST_F(ChangedPackagesTest, AChangedSidecarConcernsWhoReadsItsFile) {
  EXPECT_THAT(ChangedPackages(*journal_, std::vector<content::Change>{{.path = "/Game/inc.txt.cook",
                                                                       .is_there = true}})
                  .value(),
              ElementsAre("/Game/cooked.txt", "/Game/inc.txt", "/Game/inc.txt.cook"));
}

// Otherwise the package would be quarantined for a file that was mended before the cook goes on.
TEST_F(ChangedPackagesTest, WhatWasBlamedIsForgivenWhenItsOwnFileChangedSince) {
  EXPECT_THAT(ChangedSinceLastCook(*journal_, changes_).value(),
              ElementsAre("/Game/cooked.txt", "/Game/kills.txt"));
}

TEST_F(ChangedPackagesTest, AStartDistrustsWhatChangedWhatIsLostAndWithoutChangesEverything) {
  JournalUpdate lost{.package = "/Game/lost.txt", .platform = "windows"};
  record::Result result;
  result.outputs.push_back({"", Digest::Of("bytes that the store lacks")});
  lost.record.result = record::EncodeResult(result);
  ASSERT_TRUE(journal_->Record({{lost}}, true).ok());
  const auto distrusted = [&](const std::vector<content::Change>* changes, bool has_lost) {
    return PackagesToDistrust(changes, has_lost, store_, *journal_).value();
  };
  const std::vector<content::Change> none;
  EXPECT_THAT(distrusted(&none, false), IsEmpty());
  EXPECT_THAT(distrusted(&none, true), ElementsAre("/Game/lost.txt"));
  EXPECT_THAT(distrusted(&changes_, true),
              ElementsAre("/Game/cooked.txt", "/Game/kills.txt", "/Game/lost.txt"));
  EXPECT_THAT(distrusted(nullptr, false), ElementsAre("/Game/cooked.txt", "/Game/lost.txt"));
}

}  // namespace
}  // namespace galley::director
