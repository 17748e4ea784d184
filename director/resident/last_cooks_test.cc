#include "director/resident/last_cooks.h"

#include "common/base/file.h"
#include "director/host/outcome_status.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

class LastCooksTest : public testing::Test {
 protected:
  void SetUp() override { state_ = MakeTemporaryDirectory(testing::TempDir(), "last").value(); }
  void TearDown() override { ASSERT_TRUE(RemoveAll(state_).ok()); }

  static v1::EndedCook Ended(uint64_t number) {
    v1::EndedCook cook;
    cook.set_cook(number);
    cook.set_what("/Game/a\n\\b\x7f\xff.txt");
    cook.set_took_us(0x0a0a0a0a);  // these bytes end lines
    return cook;
  }
  static std::vector<uint64_t> NumbersOf(const LastCooks& cooks) {
    std::vector<uint64_t> numbers;
    for (const v1::EndedCook& cook : cooks.All()) numbers.push_back(cook.cook());
    return numbers;
  }

  std::string state_;
};

TEST_F(LastCooksTest, TheLastTenAreKnownToTheNextDirectorTheNewestFirst) {
  {
    LastCooks cooks(state_);
    for (uint64_t number = 1; number <= 12; ++number) cooks.Add(Ended(number));
  }
  const LastCooks next(state_);
  EXPECT_THAT(NumbersOf(next), testing::ElementsAre(12, 11, 10, 9, 8, 7, 6, 5, 4, 3));
  EXPECT_EQ(next.All()[0].SerializeAsString(), Ended(12).SerializeAsString());
}

TEST_F(LastCooksTest, OneThatGoesOnInTheNextDirectorIsThereOnce) {
  LastCooks cooks(state_);
  for (const uint64_t number : {7u, 8u, 7u}) cooks.Add(Ended(number));
  EXPECT_THAT(NumbersOf(cooks), testing::ElementsAre(7, 8));
}

TEST_F(LastCooksTest, ADamagedFileCountsAsEmptyAndIsWrittenAnew) {
  LastCooks(state_).Add(Ended(1));
  const std::string file = JoinPath(state_, "cooks/ended");
  std::string text = ReadFile(file).value();
  text[text.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  LastCooks cooks(state_);
  EXPECT_THAT(NumbersOf(cooks), testing::IsEmpty());
  cooks.Add(Ended(2));
  EXPECT_THAT(NumbersOf(LastCooks(state_)), testing::ElementsAre(2));
}

TEST_F(LastCooksTest, AFolderInThePlaceOfTheFileIsPutAside) {
  ASSERT_TRUE(CreateDirectories(JoinPath(state_, "cooks/ended/of-a-person")).ok());
  LastCooks(state_).Add(Ended(2));
  EXPECT_THAT(NumbersOf(LastCooks(state_)), testing::ElementsAre(2));
  EXPECT_TRUE(FileExists(JoinPath(state_, "cooks/ended.broken-1/of-a-person")));
}

TEST(SetEndTest, AReportIsCountedAndSaysWhyItEndedEarly) {
  v1::EndedCook cook;
  CookReport report;
  report.outcome.emplace();
  report.outcome->counters.results_cooked = 3;
  report.outcome->counters.results_cached = 2;
  report.outcome->counters.results_up_to_date = 40;
  report.outcome->counters.results_failed = 1;
  report.has_failures = true;
  SetEnd(report, absl::Milliseconds(1'500), cook);
  EXPECT_EQ(cook.cooked(), 3u);
  EXPECT_EQ(cook.cached(), 42u);
  EXPECT_EQ(cook.failed(), 1u);
  EXPECT_EQ(cook.exit_code(), 1);
  EXPECT_EQ(cook.took_us(), 1'500'000);
  EXPECT_EQ(cook.why(), "");

  v1::EndedCook refused;
  SetEnd({.end = WrongUse("galley.toml:3: no such key")}, absl::Seconds(1), refused);
  EXPECT_EQ(refused.exit_code(), 2);
  EXPECT_EQ(refused.why(), "galley.toml:3: no such key");

  v1::EndedCook unfit;
  report.outcome->ended.infrastructure_error = "no worker";
  SetEnd(report, absl::Seconds(1), unfit);
  EXPECT_EQ(unfit.exit_code(), 3);
  EXPECT_EQ(unfit.why(), "no worker");
}

}  // namespace
}  // namespace galley::director
