#include "director/resident/standing_results.h"

#include "director/resident/testing/device_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StandingResultsTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    JournalMeta meta = journal_->meta();
    meta.store_id = memory_.Info()->store_id;
    ASSERT_TRUE(journal_->SetMeta(meta).ok());
    Write("content/a.png", "a");
    Write("content/b.png", "b");
    world_ = MakeNow();
  }
  std::vector<std::string> Standing() {
    const SourcesPtr sources = SourcesOf(world_);
    const auto found = FindStanding({.world = *world_,
                                     .sources = *sources,
                                     .platform = kLinux,
                                     .journal = *journal_,
                                     .store = memory_,
                                     .stop = nobody_});
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> packages;
    for (const auto& [package, files] : *found) packages.push_back(package);
    return packages;
  }
  static record::Observed ReadsOutputOf(const std::string& asked, const std::string& value) {
    return {{record::ObservationKind::kCooked, asked, ".ktx2"}, value};
  }

  WorldPtr world_;
  Cancellation nobody_;
};

TEST_F(StandingResultsTest, TrustedResultsStandAndTheirFilesAreKnown) {
  Note(*world_, "/Game/b.png", "b", Made({{".ktx2", "b"}}));
  Note(*world_, "/Game/a.png", "a", Made({{".ktx2", "a"}}));
  EXPECT_THAT(Standing(), ElementsAre("/Game/a.png", "/Game/b.png"));
}

TEST_F(StandingResultsTest, AResultThatAChangeConcernsDoesNotStand) {
  Note(*world_, "/Game/a.png", "a", Made({{".ktx2", "a"}}));
  ASSERT_TRUE(journal_->Invalidate({{std::string("/Game/a.png")}}, journal_->meta()).ok());
  EXPECT_THAT(Standing(), IsEmpty());
}

TEST_F(StandingResultsTest, AVerdictAndAPackageThatFailsDoNotStand) {
  Note(*world_, "/Game/a.png", "a", MakeVerdict("no image data"));
  Note(*world_, "/Game/b.png", "b", Made({{".ktx2", "b"}}));
  ASSERT_TRUE(journal_
                  ->RecordFailures({{FailureUpdate{.package = "/Game/b.png",
                                                   .platform = "linux",
                                                   .failure = FailureRecord{.error = "conflict"}}}})
                  .ok());
  EXPECT_THAT(Standing(), IsEmpty());
}

TEST_F(StandingResultsTest, AResultWhoseOutputIsLostDoesNotStand) {
  Note(*world_, "/Game/a.png", "a", Made({{".ktx2", "a"}}));
  memory_.Drop(Digest::Of("a"));
  EXPECT_THAT(Standing(), IsEmpty());
}

TEST_F(StandingResultsTest, AResultStandsWithTheOutputThatItReads) {
  Note(*world_, "/Game/a.png", "a", Made({{".ktx2", "a"}}),
       {ReadsOutputOf("b.png", Digest::Of("b").ToString())});
  EXPECT_THAT(Standing(), IsEmpty()) << "its input does not stand";
  Note(*world_, "/Game/b.png", "b", Made({{".ktx2", "b"}}));
  EXPECT_THAT(Standing(), ElementsAre("/Game/a.png", "/Game/b.png"));
}

TEST_F(StandingResultsTest, ResultsOfAnotherStoreDoNotStand) {
  Note(*world_, "/Game/a.png", "a", Made({{".ktx2", "a"}}));
  JournalMeta meta = journal_->meta();
  meta.store_id = std::string(32, 'f');
  ASSERT_TRUE(journal_->SetMeta(meta).ok());
  EXPECT_THAT(Standing(), IsEmpty());
}

TEST_F(StandingResultsTest, APackageThatNeedsWhatIsGoneDoesNotStand) {
  record::Result result = Made({{".ktx2", "a"}});
  result.details.references = {{"gone.png", record::ReferenceKind::kHard}};
  Note(*world_, "/Game/a.png", "a", result);
  EXPECT_THAT(Standing(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
