#include "director/resident/cooked_notes.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

StoredResultPtr Of(const std::string& package) {
  auto stored = std::make_shared<StoredResult>();
  stored->package = package;
  return stored;
}

std::vector<std::string> NamesOf(const std::vector<StoredResultPtr>& results) {
  std::vector<std::string> names;
  for (const StoredResultPtr& result : results) names.push_back(result->package);
  return names;
}

TEST(CookedNotesTest, WhatWasNotedLaterIsTakenLater) {
  CookedNotes notes;
  notes.Note(Of("a"));
  notes.Note(Of("b"));
  const uint64_t before = notes.count();
  notes.Note(Of("c"));
  EXPECT_THAT(NamesOf(notes.Take(before)), ElementsAre("a", "b"));
  EXPECT_THAT(notes.Take(before), IsEmpty());
  EXPECT_THAT(NamesOf(notes.Take(notes.count())), ElementsAre("c"));
}

TEST(CookedNotesTest, SomebodyIsToldToTakeUntilAllIsTaken) {
  CookedNotes notes;
  EXPECT_TRUE(notes.Note(Of("a")));
  EXPECT_FALSE(notes.Note(Of("b"))) << "it is taken along";
  notes.Take(notes.count());
  EXPECT_TRUE(notes.Note(Of("c")));
}

TEST(CookedNotesTest, ResultsBeyondTheLimitAreLeftOutAndCounted) {
  CookedNotes notes;
  const StoredResultPtr result = Of("a");
  for (size_t i = 0; i < CookedNotes::kNotedMax + 2; ++i) notes.Note(result);
  EXPECT_EQ(notes.TakeLeftOut(), 2u);
  EXPECT_EQ(notes.TakeLeftOut(), 0u);
  EXPECT_THAT(notes.Take(notes.count()), testing::SizeIs(CookedNotes::kNotedMax));
}

TEST(CookedNotesTest, SomebodyIsToldWhetherAResultIsLeftThere) {
  CookedNotes notes;
  notes.Note(Of("a"));
  const uint64_t before = notes.count();
  EXPECT_FALSE(notes.Note(Of("b")));
  notes.Take(before);
  EXPECT_FALSE(notes.is_empty())
      << "b was noted after the turn was posted, and nobody comes for it";
}

}  // namespace
}  // namespace galley::director
