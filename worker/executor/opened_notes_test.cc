#include "worker/executor/opened_notes.h"

#include <gtest/gtest.h>

namespace galley::worker {
namespace {

using record::Observation;
using record::ObservationKind;

class OpenedNotesTest : public testing::Test {
 protected:
  static Observation File(const std::string& path) {
    return {.kind = ObservationKind::kFile, .subject = path, .detail = ""};
  }
  std::optional<v1::Opened> Read(uint64_t attempt = 7) const {
    return ReadOpenedNotes(file_.get(), attempt);
  }

  const FileDescriptor file_ = *MakeOpenedNotes();
  const Digest source_ = Digest::Of("source");
  OpenedNotes notes_{file_.get()};
};

TEST_F(OpenedNotesTest, TellWhatWasLookedAtByNow) {
  notes_.BeginJob(7);
  notes_.Begin(2, source_, {{File("a.h"), "absent"}});
  notes_.BeginUnknown();
  notes_.Add(File("b.h"), std::string(300, 'x'));
  notes_.EndUnknown();
  const std::optional<v1::Opened> opened = Read();
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->platform(), 2u);
  EXPECT_EQ(opened->source().hash(), source_.hex());
  ASSERT_EQ(opened->observed_size(), 2);
  EXPECT_EQ(opened->observed(0).subject(), "a.h");
  EXPECT_EQ(opened->observed(1).value(), std::string(300, 'x'));
}

TEST_F(OpenedNotesTest, ACookForAnotherPlatformBeginsThemAnew) {
  notes_.BeginJob(7);
  notes_.Begin(0, source_, {});
  notes_.Add(File("b.h"), "absent");
  notes_.Begin(1, source_, {});
  EXPECT_EQ(Read()->platform(), 1u);
  EXPECT_EQ(Read()->observed_size(), 0);
}

TEST_F(OpenedNotesTest, OfWhoeverIsLookingTheyAreNotTheWhole) {
  notes_.BeginJob(7);
  EXPECT_FALSE(Read().has_value()) << "its source is not read";
  notes_.Begin(0, source_, {});
  EXPECT_TRUE(Read().has_value());
  notes_.BeginUnknown();
  notes_.BeginUnknown();
  notes_.EndUnknown();
  EXPECT_FALSE(Read().has_value());
  notes_.EndUnknown();
  EXPECT_TRUE(Read().has_value());
}

TEST_F(OpenedNotesTest, OfAnotherAttemptTheyAreNone) {
  EXPECT_FALSE(Read(0).has_value());
  notes_.BeginJob(7);
  notes_.Begin(0, source_, {});
  EXPECT_FALSE(Read(8).has_value());
  notes_.BeginJob(8);
  EXPECT_FALSE(Read(8).has_value());
}

TEST_F(OpenedNotesTest, WhatIsTooLongIsNotKnown) {
  notes_.BeginJob(7);
  notes_.Begin(0, source_, {});
  notes_.Add(File("list"), std::string(kNotesBytesMax, 'x'));
  notes_.Add(File("b.h"), "absent");
  EXPECT_FALSE(Read().has_value());
  notes_.Begin(1, source_, {});
  EXPECT_TRUE(Read().has_value());
}

TEST_F(OpenedNotesTest, TheTimeThatIsUpIsThatOfOneJob) {
  notes_.BeginJob(7);
  EXPECT_FALSE(notes_.IsTimeUp());
  TellTimeIsUp(file_.get(), 7);
  EXPECT_TRUE(notes_.IsTimeUp());
  notes_.BeginJob(8);
  EXPECT_FALSE(notes_.IsTimeUp());
}

TEST_F(OpenedNotesTest, WithoutAFileNothingIsKnown) {
  OpenedNotes none(-1);
  none.BeginJob(7);
  none.Begin(0, source_, {});
  none.Add(File("b.h"), "absent");
  EXPECT_FALSE(none.IsTimeUp());
  EXPECT_FALSE(ReadOpenedNotes(-1, 7).has_value());
}

}  // namespace
}  // namespace galley::worker
