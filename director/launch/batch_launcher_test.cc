// BatchLauncherTest: uses a batch system of its own, whose commands are shell lines that log their
// arguments and print the output that the test sets.
#include "director/launch/batch_launcher.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "director/launch/systems.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Cleaned: a batch system that cleans up after the last worker, by a line of a shell.
class Cleaned final : public BatchSystem {
 public:
  Cleaned(std::unique_ptr<BatchSystem> system, std::string clean)
      : system_(std::move(system)), clean_(std::move(clean)) {}
  std::string kind() const override { return system_->kind(); }
  uint32_t CountMax() const override { return system_->CountMax(); }
  Command Submit(const Launch& launch) const override { return system_->Submit(launch); }
  absl::StatusOr<std::string> ReadId(const Launch& launch, std::string_view output) const override {
    return system_->ReadId(launch, output);
  }
  bool LooksAtAll() const override { return system_->LooksAtAll(); }
  Command Look(const std::vector<Launch>& launches) const override {
    return system_->Look(launches);
  }
  absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                 const ExitStatus& exit,
                                                 const std::string& output) const override {
    return system_->ReadLook(launches, exit, output);
  }
  Command End(const Launch& launch, std::optional<uint32_t> index) const override {
    return system_->End(launch, index);
  }
  Command Clean(const Launch&) const override {
    if (clean_.empty()) return {};
    return {.argv = {"/bin/sh", "-c", clean_}};
  }

 private:
  const std::unique_ptr<BatchSystem> system_;
  const std::string clean_;
};

class BatchLauncherTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "batch").value();
    Say("submit", "id 7");
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  std::string Path(std::string_view name) const { return JoinPath(folder_, name); }
  // Sets the output of the command from now on.
  void Say(std::string_view command, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(Path(command), text).ok());
  }
  std::string Asked() const { return ReadFile(Path("asked")).value_or(""); }

  // Returns the names in the folder of records.
  std::vector<std::string> Launches() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path("launches")))
      names.push_back(entry.path().filename().string());
    return names;
  }

  // Other output of `status` is no part of its answer.
  std::unique_ptr<Launcher> Make(
      const std::string& start = "echo submit {count} >> D/asked; cat D/submit #{ticket_file}",
      const std::string& stop = "echo stop {id} {index} >> D/asked",
      const std::string& clean = "") {
    const auto here = [this](std::string text) {
      // The folder's own name may end in D.
      for (size_t at = text.find("D/"); at != std::string::npos;
           at = text.find("D/", at + folder_.size()))
        text.replace(at, 1, folder_);
      return text;
    };
    return CreateBatchLauncher(
        std::make_unique<Cleaned>(
            CommandSystem({}, here(start),
                          here("cat D/status; test -s D/status && echo 0 gone n9 >&2"), here(stop)),
            here(clean)),
        {.folder = Path("launches"),
         .project = "The Tower!",
         .ticket = [] { return Ticket{.director = "d:1"}; }},
        {.on_exit =
             [this](const WorkerExit& exit) {
               Note(fmt::format("exit {}{}: {}", exit.worker_id, exit.never_started ? " never" : "",
                                exit.reason));
             },
         .on_state =
             [this](const std::string& worker, LaunchState state, const std::string& where) {
               Note(fmt::format("{} {} {}", worker,
                                state == LaunchState::kQueued ? "queued" : "starting", where));
             },
         .on_held = [this](const std::string& worker,
                           const std::string& text) { Note(fmt::format("{} {}", worker, text)); },
         .on_token =
             [this](const std::vector<std::string>& workers, const std::string& token) {
               Note(fmt::format("token for {}", workers.size()));
               base::MutexLock lock(mutex_);
               token_ = token;
             }});
  }

  void Note(std::string line) {
    base::MutexLock lock(mutex_);
    notes_.push_back(std::move(line));
  }
  // Returns the notes of the launcher, once there are `count`; the test fails if there are fewer.
  std::vector<std::string> Await(size_t count) {
    AwaitOrFail([&] { return Notes().size() >= count; },
                fmt::format("{} notes of the launcher", count));
    return Notes();
  }
  std::vector<std::string> Notes() {
    base::MutexLock lock(mutex_);
    return notes_;
  }

  std::string folder_;
  base::Mutex mutex_;
  std::vector<std::string> notes_ GALLEY_GUARDED_BY(mutex_);
  std::string token_ GALLEY_GUARDED_BY(mutex_);
};

TEST_F(BatchLauncherTest, WorkersThatAreAskedForTogetherAreOneLaunch) {
  const auto launcher = Make();
  for (const char* id : {"command-1", "command-2", "command-3"}) launcher->Start({.worker_id = id});
  EXPECT_THAT(Await(4), ElementsAre("token for 3", "command-1 queued ", "command-2 queued ",
                                    "command-3 queued "));
  EXPECT_EQ(Asked(), "submit 3\n");
  // The record and the ticket, which nobody else may read.
  std::string ticket;
  for (const auto& entry : std::filesystem::directory_iterator(Path("launches"))) {
    const std::string name = entry.path().filename().string();
    EXPECT_THAT(name, StartsWith("galley-the-tower--"));
    EXPECT_EQ(StatFile(entry.path().string(), false)->mode & 0777, 0600u);
    if (name.ends_with(".ticket")) ticket = ReadFile(entry.path().string()).value();
  }
  const auto decoded = DecodeTicket(ticket);
  ASSERT_TRUE(decoded.ok()) << ticket;
  EXPECT_THAT(decoded->names, ElementsAre("command-1", "command-2", "command-3"));
  base::MutexLock lock(mutex_);
  EXPECT_EQ(decoded->token, token_);
}

TEST_F(BatchLauncherTest, AtItsEndAllIsEndedAndNothingIsLeft) {
  auto launcher = Make();
  launcher->Start({.worker_id = "command-1"});
  Await(2);
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Await(3).back(), "exit command-1: the director ends");
  EXPECT_EQ(Asked(), "submit 1\nstop 7\n");
  EXPECT_TRUE(std::filesystem::is_empty(Path("launches")));
}

TEST_F(BatchLauncherTest, OneIsEndedWithoutTheOthers) {
  const auto launcher = Make();
  launcher->Start({.worker_id = "command-1"});
  launcher->Start({.worker_id = "command-2"});
  Await(3);
  launcher->Stop("command-2", absl::ZeroDuration());
  EXPECT_EQ(Await(4).back(), "exit command-2: it was ended");
  EXPECT_EQ(Asked(), "submit 2\nstop 7 1\n");
}

TEST_F(BatchLauncherTest, StatesAndEndsAreToldAsTheSystemSeesThem) {
  Say("status", "0 running n1\n");
  const auto launcher = Make();
  launcher->Start({.worker_id = "command-1"});
  EXPECT_EQ(Await(3).back(), "command-1 starting n1");
  Say("status", "0 gone n1 the node burnt down\n");
  EXPECT_EQ(Await(4).back(), "exit command-1: the node burnt down");
}

TEST_F(BatchLauncherTest, AFailedSubmissionIsToldAndEndedByNameAllTheSame) {
  const auto launcher = Make("echo no room >&2; exit 3; {ticket_file} {count}");
  launcher->Start({.worker_id = "command-1"});
  EXPECT_EQ(Await(2).back(), "exit command-1 never: command: exit code 3; it said: no room");
  EXPECT_EQ(Asked(), "stop \n");
  EXPECT_TRUE(std::filesystem::is_empty(Path("launches")));
}

TEST_F(BatchLauncherTest, AnEndDoesNotWaitForASubmissionThatHangs) {
  auto launcher = Make("exec sleep 1000; {ticket_file} {count}");
  launcher->Start({.worker_id = "command-1"});
  Await(1);
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_THAT(Await(2).back(), StartsWith("exit command-1 never: command: "));
}

TEST_F(BatchLauncherTest, ALaunchThatCouldNotBeEndedIsEndedByTheNextDirector) {
  const std::string start = "echo submit {count} >> D/asked; cat D/submit #{ticket_file}";
  auto launcher = Make(start, "test ! -e D/deaf && echo stop {id} {index} >> D/asked");
  launcher->Start({.worker_id = "command-1"});
  Await(2);
  Say("deaf", "");
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Asked(), "submit 1\n");
  ASSERT_EQ(Launches().size(), 1u) << "its ticket is of no use any more";
  EXPECT_THAT(Launches().front(), StartsWith("galley-the-tower--"));
  launcher.reset();
  ASSERT_EQ(std::filesystem::remove(Path("deaf")), true);
  launcher = Make();
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Asked(), "submit 1\nstop 7\n");
  EXPECT_THAT(Launches(), IsEmpty());
}

TEST_F(BatchLauncherTest, WhatIsBeingCleanedAwayWhenTheDirectorEndsIsEnded) {
  const std::string start = "echo submit {count} >> D/asked; cat D/submit #{ticket_file}";
  const std::string stop = "echo stop {id} {index} >> D/asked";
  Say("status", "0 gone n1 it is done\n");
  auto launcher = Make(start, stop, "echo clean >> D/asked; exec sleep 1000");
  launcher->Start({.worker_id = "command-1"});
  ASSERT_TRUE(AwaitOrFail([&] { return Asked() == "submit 1\nclean\n"; }, "the line that cleans"));
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Asked(), "submit 1\nclean\nstop 7\n");
  EXPECT_THAT(Launches(), IsEmpty());
}

TEST_F(BatchLauncherTest, WhatCouldNotBeCleanedAwayIsEndedByTheNextDirector) {
  const std::string start = "echo submit {count} >> D/asked; cat D/submit #{ticket_file}";
  const std::string stop = "echo stop {id} {index} >> D/asked";
  Say("status", "0 gone n1 it is done\n");
  auto launcher = Make(start, stop, "exit 1");
  launcher->Start({.worker_id = "command-1"});
  Await(3);
  // The ticket is of no use any more.
  ASSERT_TRUE(AwaitOrFail([&] { return Launches().size() <= 1; }, "the removal of the ticket"));
  launcher->StopAll(absl::ZeroDuration());
  launcher.reset();
  EXPECT_EQ(Asked(), "submit 1\n");
  ASSERT_EQ(Launches().size(), 1u);
  launcher = Make();
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Asked(), "submit 1\nstop 7\n");
  EXPECT_THAT(Launches(), IsEmpty());
}

TEST_F(BatchLauncherTest, ARecordThatNobodyCouldEndForAWeekIsGivenUp) {
  ASSERT_TRUE(CreateDirectories(Path("launches")).ok());
  for (const char* name : {"launches/galley-x-1", "launches/galley-x-2"})
    ASSERT_TRUE(WriteFileAtomic(Path(name), "command\n42\n").ok());
  std::filesystem::last_write_time(
      Path("launches/galley-x-1"),
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  auto launcher = Make("cat D/submit #{count} {ticket_file}", "exit 1");
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_THAT(Launches(), ElementsAre("galley-x-2"));
}

TEST_F(BatchLauncherTest, WhatWillNotStartByItselfIsToldOnce) {
  Say("status", "0 held the licence has expired\n1 held the licence has expired\n");
  const auto launcher = Make();
  launcher->Start({.worker_id = "command-1"});
  launcher->Start({.worker_id = "command-2"});
  // A look always tells of both workers in the same order.
  const std::vector<std::string> notes = Await(6);
  EXPECT_EQ(notes[3], "command-1 queued the licence has expired");
  EXPECT_THAT(notes[4], StartsWith("command-1 command workers of launch galley-the-tower--"));
  EXPECT_THAT(notes[4], HasSubstr("(command-1) will not start by themselves: the licence has "
                                  "expired. What runs them knows more"));
  EXPECT_EQ(notes[5], "command-2 queued the licence has expired");
  Say("status", "0 running n1\n1 held the licence has expired\n");
  EXPECT_EQ(Await(7).back(), "command-1 starting n1") << "and nothing more of the other";
}

TEST_F(BatchLauncherTest, WhatAnEarlierDirectorLeftIsEnded) {
  ASSERT_TRUE(CreateDirectories(Path("launches")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("launches/galley-x-1"), "command\n42\n").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("launches/galley-x-1.ticket"), "{}").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("launches/galley-x-2"), "slurm\n43\n").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("launches/notes.txt"), "a person's").ok());
  auto launcher = Make();
  launcher->StopAll(absl::ZeroDuration());
  EXPECT_EQ(Asked(), "stop 42\n") << "the other one is not ours to end";
  EXPECT_FALSE(std::filesystem::exists(Path("launches/galley-x-1")));
  EXPECT_FALSE(std::filesystem::exists(Path("launches/galley-x-1.ticket")));
  EXPECT_TRUE(std::filesystem::exists(Path("launches/notes.txt")));
}

}  // namespace
}  // namespace galley::director
