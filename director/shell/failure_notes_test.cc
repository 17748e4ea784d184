#include "director/shell/failure_notes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const FailureNotes::Where kWhere = {"/Game/a.txt", "windows"};
const FailureRecord kCrash = {.cook = 3, .error = "crashed"};

TEST(FailureNotes, AFailureIsToldOnce) {
  FailureNotes notes;
  notes.Failed(kWhere, kCrash);
  EXPECT_TRUE(notes.has_news());
  const std::vector<FailureUpdate> news = notes.Take({});
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].package, "/Game/a.txt");
  EXPECT_EQ(news[0].platform, "windows");
  EXPECT_EQ(news[0].failure, kCrash);
  EXPECT_FALSE(notes.has_news());
  EXPECT_THAT(notes.Take({}), IsEmpty());
}

TEST(FailureNotes, AResultThatComesLateDoesNotTakeAwayWhatTheCookReports) {
  FailureNotes notes;
  notes.Failed(kWhere, kCrash);
  notes.Take({});
  const std::vector<FailureUpdate> news = notes.Take({kWhere, {"/Game/other.txt", "windows"}});
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].failure, kCrash);
}

TEST(FailureNotes, WhatIsDoneHasNotFailed) {
  FailureNotes notes;
  notes.Failed(kWhere, kCrash);
  notes.Take({});
  EXPECT_THAT(notes.FailedFor("windows"), ElementsAre("/Game/a.txt"));
  EXPECT_THAT(notes.FailedFor("android"), IsEmpty());
  notes.Done(kWhere, false);
  EXPECT_THAT(notes.FailedFor("windows"), IsEmpty());
  const std::vector<FailureUpdate> news = notes.Take({kWhere});
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].failure, std::nullopt);
}

TEST(FailureNotes, AFailureOfAnEarlierCookGoesWhenThePlatformIsDone) {
  FailureNotes notes;
  notes.Done(kWhere, false);
  EXPECT_FALSE(notes.has_news());
  notes.Done(kWhere, true);
  EXPECT_EQ(notes.Take({}).size(), 1u);
}

}  // namespace
}  // namespace galley::director
