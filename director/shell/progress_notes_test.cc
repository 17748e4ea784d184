#include "director/shell/progress_notes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

const absl::Time kStart = absl::UnixEpoch();

WorkerReported Ended(std::vector<AttemptId> attempts) {
  WorkerReported reported;
  for (const AttemptId attempt : attempts)
    reported.reports.push_back({.attempt = attempt, .what = WorkerReport::Ended{}});
  return reported;
}

TEST(ProgressNotesTest, WhatIsOverBeforeItWasWrittenIsNotWritten) {
  ProgressNotes notes;
  notes.Give({.attempt = 1, .package = "/Game/a"});
  notes.Give({.attempt = 2, .package = "/Game/b"});
  notes.NoteOver(Ended({1}));
  const JournalProgress progress = notes.Take(false, kStart);
  ASSERT_THAT(progress.given, SizeIs(1));
  EXPECT_EQ(progress.given[0].package, "/Game/b");
  EXPECT_THAT(progress.over, SizeIs(0));
}

TEST(ProgressNotesTest, OnlyItsEndIsTheEnd) {
  ProgressNotes notes;
  notes.Give({.attempt = 1, .package = "/Game/a"});
  (void)notes.Take(false, kStart);
  notes.NoteOver({.worker = WorkerId(0),
                  .reports = {{.attempt = 1, .what = WorkerReport::Loaded{}},
                              {.attempt = 1, .what = WorkerReport::Saved{}}}});
  EXPECT_TRUE(notes.Take(false, kStart).empty());
}

// When a director dies between the results and the end of the attempt, the next director must hear
// of the results again.
TEST(ProgressNotesTest, WhatIsOverGoesBehindTheResultsThatItBrought) {
  ProgressNotes notes;
  notes.Give({.attempt = 1, .package = "/Game/a"});
  (void)notes.Take(false, kStart);
  notes.NoteOver(Ended({1}));
  EXPECT_TRUE(notes.Take(true, kStart).empty());
  EXPECT_THAT(notes.Take(false, kStart).over, ElementsAre(1));
  EXPECT_TRUE(notes.Take(false, kStart).empty());
}

TEST(ProgressNotesTest, WhoWasBlamedIsWrittenAtOnce) {
  ProgressNotes notes;
  notes.NoteBlame("/Game/a", {.own_faults = 2, .what = "crashed", .error = "signal 11"});
  EXPECT_THAT(notes.Take(true, kStart).blamed,
              ElementsAre(BlameRecord{"/Game/a", 2, "crashed", "signal 11", ""}));
}

TEST(ProgressNotesTest, BatchesAreTwentyMillisecondsApart) {
  ProgressNotes notes;
  EXPECT_TRUE(notes.IsDue(kStart));
  (void)notes.Take(false, kStart);  // nothing to write: the next batch may follow at once
  EXPECT_TRUE(notes.IsDue(kStart));
  notes.NoteBlame("/Game/a", {});
  (void)notes.Take(false, kStart);
  EXPECT_FALSE(notes.IsDue(kStart + absl::Milliseconds(19)));
  EXPECT_TRUE(notes.IsDue(kStart + absl::Milliseconds(20)));
}

}  // namespace
}  // namespace galley::director
