#include "worker/executor/opened_notes.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

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

TEST_F(OpenedNotesTest, TellWhetherTheLoadOfTheJobWasOver) {
  EXPECT_FALSE(WasLoaded(file_.get(), 0));
  notes_.BeginJob(7);
  EXPECT_FALSE(WasLoaded(file_.get(), 7));
  notes_.NoteLoaded();
  EXPECT_TRUE(WasLoaded(file_.get(), 7));
  notes_.BeginJob(8);
  EXPECT_FALSE(WasLoaded(file_.get(), 8));
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
  for (const size_t bytes : {kNotesBytesMax - 10, kNotesBytesMax, 10 * kNotesBytesMax}) {
    notes_.BeginJob(7);
    notes_.Begin(0, source_, {});
    notes_.Add(File("list"), std::string(bytes, 'x'));
    notes_.Add(File("b.h"), "absent");
    EXPECT_FALSE(Read().has_value()) << bytes;
    notes_.Begin(1, source_, {});
    EXPECT_TRUE(Read().has_value());
  }
}

TEST_F(OpenedNotesTest, ManySmallOnesAreTooLongTogether) {
  notes_.BeginJob(7);
  notes_.Begin(0, source_, {});
  int known = 0;
  for (int i = 0; i < 2'000; ++i) {
    notes_.Add(File(std::to_string(i)), std::string(90, 'x'));
    if (const auto opened = Read()) known = opened->observed_size();
  }
  EXPECT_FALSE(Read().has_value());
  EXPECT_GT(known, 500) << "more than 100 bytes for each";
  EXPECT_LT(known, 700);
}

// A process that writes endlessly, until it is killed.
class Writer {
 public:
  explicit Writer(const std::function<void()>& write) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) write();
  }
  ~Writer() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    EXPECT_EQ(::kill(pid_, SIGKILL), 0);
    EXPECT_EQ(::waitpid(pid_, nullptr, 0), pid_);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

// While the executor writes, and after it was killed at any moment, a reader finds the looks before
// or after some look.
TEST_F(OpenedNotesTest, AreWholeWheneverTheirWriterIsKilled) {
  const auto expect_whole = [this] {
    const std::optional<v1::Opened> opened = Read();
    if (!opened.has_value()) return;
    EXPECT_EQ(opened->platform(), 3u);
    EXPECT_EQ(opened->source().hash(), source_.hex());
    for (int i = 0; i < opened->observed_size(); ++i) {
      EXPECT_EQ(opened->observed(i).subject(), std::to_string(i));
      EXPECT_EQ(opened->observed(i).value(), std::string(static_cast<size_t>(i), 'x'));
    }
  };
  for (int kills = 0; kills < 50; ++kills) {
    Writer writer([this] {
      notes_.BeginJob(7);
      notes_.Begin(3, source_, {});
      for (int i = 0; i < 300; ++i) {
        notes_.BeginUnknown();
        notes_.Add(File(std::to_string(i)), std::string(static_cast<size_t>(i), 'x'));
        notes_.EndUnknown();
      }
    });
    for (int reads = 0; reads < 10 * kills; ++reads) expect_whole();
    writer.Kill();
    expect_whole();
  }
}

// The next job, which was sent ahead, begins while the notes of the job before are read.
TEST_F(OpenedNotesTest, OfAJobThatBeginsMeanwhileNothingIsTakenForTheOneBefore) {
  const auto platform_of = [](uint64_t attempt) {
    return static_cast<uint32_t>(1'000 + attempt % 1'000);  // notes of equal size
  };
  uint64_t next = 1;
  Writer writer([&] {
    notes_.BeginJob(next);
    notes_.Begin(platform_of(next++), source_, {{File("a.h"), "absent"}});
    for (int i = 0; i < 2'000; ++i) notes_.IsTimeUp();  // otherwise nobody would ever read in time
  });
  for (int reads = 0; reads < 50'000 && !HasFailure(); ++reads) {
    uint64_t attempt = 0;
    ASSERT_EQ(::pread(file_.get(), &attempt, sizeof(attempt), 0), 8);
    if (const auto opened = Read(attempt)) {
      EXPECT_EQ(opened->platform(), platform_of(attempt));
    }
  }
}

TEST_F(OpenedNotesTest, TheirFileCannotBeCutUnderTheOneThatWrites) {
  EXPECT_NE(::ftruncate(file_.get(), 0), 0);
  notes_.BeginJob(7);
  notes_.Begin(0, source_, {});
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
