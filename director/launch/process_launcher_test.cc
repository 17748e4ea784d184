#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/process_handle.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "common/base/testing/await.h"
#include "director/launch/process_launcher.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Exits: remembers the exits and lets a test wait for them.
class Exits {
 public:
  std::function<void(WorkerExit)> Recorder() {
    return [this](WorkerExit exit) {
      base::MutexLock lock(mutex_);
      exits_.push_back(std::move(exit));
    };
  }
  // Returns the exits, once there are `count`; the test fails if there are fewer.
  std::vector<WorkerExit> Await(size_t count) {
    AwaitOrFail([&] { return All().size() >= count; }, fmt::format("{} exits", count));
    return All();
  }

 private:
  std::vector<WorkerExit> All() {
    base::MutexLock lock(mutex_);
    return exits_;
  }

  base::Mutex mutex_;
  std::vector<WorkerExit> exits_ GALLEY_GUARDED_BY(mutex_);
};

class LocalLauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "launch").value();
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  std::string Path(std::string_view name) const { return JoinPath(folder_, name); }

  // Returns a program that runs `body` in /bin/sh.
  std::string Script(std::string_view body) const {
    const std::string path = Path("worker");
    EXPECT_TRUE(WriteFileAtomic(path, fmt::format("#!/bin/sh\n{}\n", body)).ok());
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }

  WorkerStart Worker(std::string id) const {
    return WorkerStart{.worker_id = std::move(id),
                       .director_address = "unix:/x",
                       .token = "secret",
                       .log_file = Path("log")};
  }

  // Waits until the worker has written to a pipe: reading a FIFO blocks until its writer has
  // written and closed.
  std::string ReadFifo(const std::string& path) const {
    const WaitLimit limit("a worker that writes to a pipe");
    FILE* file = std::fopen(path.c_str(), "r");
    std::string text(256, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  }

  std::string folder_;
  Exits exits_;
};

TEST_F(LocalLauncherTest, AnEndedWorkerIsReportedWithItsExitCode) {
  const auto launcher = CreateLocalLauncher(Script("exit 3"), exits_.Recorder());
  launcher->Start(Worker("local-1"));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].worker_id, "local-1");
  EXPECT_EQ(exits[0].reason, "exit code 3");
  EXPECT_EQ(exits[0].signal, 0);
  EXPECT_FALSE(exits[0].never_started);
}

TEST_F(LocalLauncherTest, AKilledWorkerIsReportedWithItsSignal) {
  const auto launcher = CreateLocalLauncher(Script("kill -9 $$"), exits_.Recorder());
  launcher->Start(Worker("local-1"));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].signal, SIGKILL);
  EXPECT_EQ(exits[0].reason, "signal 9 (Killed)");
}

TEST_F(LocalLauncherTest, AWorkerIsToldItsDirectorIdAndSlots) {
  const auto launcher = CreateLocalLauncher(Script("echo \"$@\""), exits_.Recorder());
  WorkerStart start = Worker("local-7");
  start.slots = 4;
  launcher->Start(start);
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_EQ(ReadFile(Path("log")).value(), "session --director unix:/x --id local-7 --slots 4\n");
}

TEST_F(LocalLauncherTest, AWorkerIsToldWhatItsMachineHas) {
  const auto launcher = CreateLocalLauncher(Script("echo \"$@\""), exits_.Recorder());
  WorkerStart start = Worker("local-7");
  start.offer = {.labels = {"sdk-x", "win"}, .resources = {{"gpu", 2}}};
  launcher->Start(start);
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_THAT(ReadFile(Path("log")).value(),
              HasSubstr(" --label sdk-x --label win --resource gpu=2\n"));
}

TEST_F(LocalLauncherTest, TheTokenComesThroughTheDescriptorAndNowhereElse) {
  const auto launcher = CreateLocalLauncher(
      Script("echo \"got $(cat <&3)\"; echo \"$@\"; env; test -e /proc/self/fd/4 && echo leaked"),
      exits_.Recorder());
  launcher->Start(Worker("local-1"));
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  const std::string log = ReadFile(Path("log")).value();
  EXPECT_THAT(log, HasSubstr("got secret\n"));
  EXPECT_THAT(log, HasSubstr("GALLEY_TOKEN_FD=3\n"));
  EXPECT_EQ(log.find("secret"), log.rfind("secret"));
  EXPECT_THAT(log, Not(HasSubstr("leaked")));
}

TEST_F(LocalLauncherTest, OnlyNamedEnvironmentVariablesArePassed) {
  ::setenv("GALLEY_LAUNCH_TEST", "visible", 1);
  ::setenv("ASAN_OPTIONS", "verbosity=0", 1);
  const auto launcher = CreateLocalLauncher(Script("env"), exits_.Recorder());
  launcher->Start(Worker("local-1"));
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  const std::string log = ReadFile(Path("log")).value();
  EXPECT_THAT(log, Not(HasSubstr("GALLEY_LAUNCH_TEST")));
  EXPECT_THAT(log, HasSubstr("ASAN_OPTIONS=verbosity=0\n"));
  EXPECT_THAT(log, HasSubstr("PATH="));
}

TEST_F(LocalLauncherTest, AProgramThatIsNotThereIsReportedAsNeverStarted) {
  const auto launcher = CreateLocalLauncher(Path("nothing"), exits_.Recorder());
  launcher->Start(Worker("local-1"));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_TRUE(exits[0].never_started);
  EXPECT_THAT(exits[0].reason, HasSubstr(Path("nothing")));
}

TEST_F(LocalLauncherTest, AnUnwritableLogIsReportedAsNeverStarted) {
  const auto launcher = CreateLocalLauncher(Script("exit 0"), exits_.Recorder());
  WorkerStart start = Worker("local-1");
  start.log_file = Path("worker") + "/log";  // below a file
  launcher->Start(start);
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_TRUE(exits[0].never_started);
  EXPECT_THAT(exits[0].reason, HasSubstr("worker"));
}

TEST_F(LocalLauncherTest, ATokenTooLongForAPipeIsRefused) {
  const auto launcher = CreateLocalLauncher(Script("exit 0"), exits_.Recorder());
  WorkerStart start = Worker("local-1");
  start.token = std::string(100'000, 'x');
  launcher->Start(start);
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_TRUE(exits[0].never_started);
  EXPECT_THAT(exits[0].reason, HasSubstr("the limit is 4096"));
}

TEST_F(LocalLauncherTest, AStoppedWorkerGetsSigtermAndMayEndInPeace) {
  ASSERT_EQ(::mkfifo(Path("ready").c_str(), 0600), 0);
  const auto launcher = CreateLocalLauncher(
      Script(fmt::format("trap 'exit 5' TERM; echo up > {}; while :; do read x < {} ; done",
                         Path("ready"), Path("ready"))),
      exits_.Recorder());
  launcher->Start(Worker("local-1"));
  EXPECT_EQ(ReadFifo(Path("ready")), "up\n");
  launcher->Stop("local-1", absl::Hours(1));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].reason, "exit code 5");
}

TEST_F(LocalLauncherTest, AWorkerDeafToSigtermIsKilledAfterTheGrace) {
  ASSERT_EQ(::mkfifo(Path("ready").c_str(), 0600), 0);
  const auto launcher = CreateLocalLauncher(
      Script(fmt::format("trap '' TERM; echo up > {}; while :; do read x < {}; done", Path("ready"),
                         Path("ready"))),
      exits_.Recorder());
  launcher->Start(Worker("local-1"));
  EXPECT_EQ(ReadFifo(Path("ready")), "up\n");
  launcher->Stop("local-1", absl::Milliseconds(20));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].signal, SIGKILL);
}

TEST_F(LocalLauncherTest, AWorkerStartsAfterItsDelayAndAnotherOneBefore) {
  const auto launcher = CreateLocalLauncher(Script("exit 0"), exits_.Recorder());
  WorkerStart late = Worker("late");
  late.delay = absl::Milliseconds(50);
  SystemClock clock;
  const absl::Time begin = clock.Monotonic();
  launcher->Start(late);
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_GE(clock.Monotonic() - begin, late.delay);
  late.delay = absl::Hours(1);
  launcher->Start(late);
  launcher->Start(Worker("early"));
  EXPECT_EQ(exits_.Await(2).at(1).worker_id, "early");
}

TEST_F(LocalLauncherTest, AWorkerStoppedDuringItsDelayNeverStarts) {
  const auto launcher = CreateLocalLauncher(Script("echo ran"), exits_.Recorder());
  WorkerStart start = Worker("local-1");
  start.delay = absl::Hours(1);
  launcher->Start(start);
  launcher->Stop("local-1", absl::ZeroDuration());
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_TRUE(exits[0].never_started);
  EXPECT_FALSE(FileExists(Path("log")));
}

TEST_F(LocalLauncherTest, StopAllReturnsWhenEveryExitWasReported) {
  const auto launcher = CreateLocalLauncher(Script("exec sleep 3600"), exits_.Recorder());
  for (int i = 0; i < 4; ++i) launcher->Start(Worker(fmt::format("local-{}", i)));
  WorkerStart delayed = Worker("delayed");
  delayed.delay = absl::Hours(1);
  launcher->Start(delayed);
  launcher->StopAll(absl::Hours(1));
  EXPECT_EQ(exits_.Await(0).size(), 5u);
}

TEST_F(LocalLauncherTest, AnotherWorkerMayBeStartedFromWithinOnExit) {
  Launcher* self = nullptr;
  base::Mutex mutex;
  const std::function<void(WorkerExit)> record = exits_.Recorder();
  const auto launcher = CreateLocalLauncher(Script("exit 1"), [&](WorkerExit exit) {
    {
      base::MutexLock lock(mutex);
      if (exit.worker_id == "local-1") self->Start(Worker("local-2"));
    }
    record(std::move(exit));
  });
  {
    base::MutexLock lock(mutex);
    self = launcher.get();
  }
  launcher->Start(Worker("local-1"));
  const auto exits = exits_.Await(2);
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[1].worker_id, "local-2");
}

TEST_F(LocalLauncherTest, ASecondWorkerOfOneIdIsRefused) {
  const auto launcher = CreateLocalLauncher(Script("exec sleep 3600"), exits_.Recorder());
  launcher->Start(Worker("local-1"));
  launcher->Start(Worker("local-1"));
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_TRUE(exits[0].never_started);
  EXPECT_THAT(exits[0].reason, HasSubstr("already"));
}

TEST_F(LocalLauncherTest, AWorkerOutlivesTheThreadThatAskedForIt) {
  ASSERT_EQ(::mkfifo(Path("go").c_str(), 0600), 0);
  const auto launcher = CreateLocalLauncher(Script(fmt::format("read x < {}; exit 7", Path("go"))),
                                            exits_.Recorder());
  std::thread([&] { launcher->Start(Worker("local-1")); }).join();
  const WaitLimit limit("a worker that reads");
  FILE* go =
      std::fopen(Path("go").c_str(),
                 "w");  // blocks until the worker reads: the worker lives though its asker is gone
  std::fputs("go\n", go);
  std::fclose(go);
  const auto exits = exits_.Await(1);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].reason, "exit code 7");
}

// SurvivorTest: a worker as an earlier director left it: nobody's child here.
class SurvivorTest : public LocalLauncherTest {
 protected:
  // Processes that are still there belong to nobody, and would hold this program's output open.
  ~SurvivorTest() override {
    for (const pid_t left : left_) ::kill(-left, SIGKILL);
  }

  // Leaves a worker that ends by SIGTERM, if it ends.
  WorkerRecord Leave(std::string_view body) {
    const std::string worker = Script(fmt::format("echo $$ > {}.new\nmv {}.new {}\n{}", Path("pid"),
                                                  Path("pid"), Path("pid"), body));
    const pid_t father = ::fork();
    if (father == 0) {
      ::setsid();
      if (::fork() == 0) {
        ::setpgid(0, 0);
        ::execl(worker.c_str(), worker.c_str(), nullptr);
      }
      ::_exit(0);
    }
    ::waitpid(father, nullptr, 0);
    AwaitOrFail([&] { return FileExists(Path("pid")); }, "the number of the worker");
    WorkerRecord record{.worker_id = "local-7",
                        .pid = static_cast<pid_t>(std::stol(ReadFile(Path("pid"), 100).value())),
                        .director_address = "unix:/x",
                        .token = "secret"};
    EXPECT_TRUE(WriteWorkerRecord(Path("workers"), record).ok());
    left_.push_back(record.pid);
    return record;
  }

  // Leaves a worker that is deaf to SIGTERM and waits for a child, which runs `body`.
  void LeaveWithChild(std::string_view body) {
    (void)Leave(
        fmt::format("({}) >/dev/null 2>&1 &\ntrap '' TERM\necho $! > {}.new\n"
                    "mv {}.new {}\nwait",
                    body, Path("child"), Path("child"), Path("child")));
    AwaitOrFail([&] { return FileExists(Path("child")); }, "the number of the worker's child");
  }
  pid_t Child() const {
    return static_cast<pid_t>(std::stol(ReadFile(Path("child"), 100).value()));
  }

 private:
  std::vector<pid_t> left_;
};

TEST_F(SurvivorTest, OneThatLivesIsFoundByItsRecordAndEndedLikeOurOwn) {
  const WorkerRecord left = Leave("while :; do sleep 0.01; done");
  const std::vector<WorkerRecord> found = FindSurvivors(Path("workers"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].worker_id, "local-7");
  EXPECT_EQ(found[0].pid, left.pid);
  EXPECT_EQ(found[0].director_address, "unix:/x");
  EXPECT_EQ(found[0].token, "secret");
  struct stat stat {};
  ASSERT_EQ(::stat(Path("workers/local-7").c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode & 0777, 0600u);
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  launcher->Adopt(found[0], Path("workers"));
  launcher->StopAll(absl::Seconds(60));
  ASSERT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_EQ(exits_.Await(1)[0].worker_id, "local-7");
  EXPECT_FALSE(exits_.Await(1)[0].never_started);
  EXPECT_EQ(StartOf(left.pid), "");
  EXPECT_FALSE(FileExists(Path("workers/local-7")));
}

TEST_F(SurvivorTest, OneThatDoesNotObeyIsKilled) {
  (void)Leave("trap '' TERM\nwhile :; do sleep 0.01; done");
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  const WorkerRecord found = FindSurvivors(Path("workers")).at(0);
  launcher->Adopt(found, Path("workers"));
  launcher->Stop("local-7", absl::ZeroDuration());
  EXPECT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_EQ(StartOf(found.pid), "");
}

TEST_F(SurvivorTest, OneIsReachedByItsHandleAndNotByItsNumber) {
  // A process that leads no group: its number would find no group, or another's.
  LeaveWithChild("sleep 60");
  WorkerRecord child{.worker_id = "local-8", .pid = Child()};
  child.started = StartOf(child.pid);
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  launcher->Adopt(child, Path("workers"));
  launcher->Stop("local-8", absl::Hours(1));
  EXPECT_EQ(exits_.Await(1).at(0).worker_id, "local-8");
}

// A worker's programs lead groups of their own, and may have other sessions.
TEST_F(SurvivorTest, OneThatIsKilledTakesWithItWhatItStarted) {
  LeaveWithChild("trap '' TERM; exec setsid sleep 60");
  const ProcessHandle child = ProcessHandle::Open(Child());
  ASSERT_TRUE(child.valid());
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  launcher->Adopt(FindSurvivors(Path("workers")).at(0), Path("workers"));
  launcher->Stop("local-7", absl::ZeroDuration());
  EXPECT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_TRUE(child.HasEnded());
  child.Signal(SIGKILL);
}

TEST_F(SurvivorTest, OneThatEndsByItselfIsReported) {
  (void)Leave(fmt::format("while ! [ -e {} ]; do sleep 0.01; done", Path("end")));
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  launcher->Adopt(FindSurvivors(Path("workers")).at(0), Path("workers"));
  ASSERT_TRUE(WriteFileAtomic(Path("end"), "").ok());
  EXPECT_EQ(exits_.Await(1).size(), 1u);
}

TEST_F(SurvivorTest, AnotherProcessOfItsNumberIsNotTakenForIt) {
  WorkerRecord record = Leave("while :; do sleep 0.01; done");
  WorkerRecord found = FindSurvivors(Path("workers")).at(0);
  const auto launcher = CreateLocalLauncher("/nowhere", exits_.Recorder());
  launcher->Adopt(found, Path("workers"));
  // The record claims that the worker began at another time.
  ASSERT_TRUE(WriteFileAtomic(Path("workers/local-8"), Seal("galley-worker", 1,
                                                            {{"pid", fmt::format("{}", record.pid)},
                                                             {"started", "1"},
                                                             {"address", "a"},
                                                             {"token", "t"}}))
                  .ok());
  TakeRepairs();
  EXPECT_EQ(FindSurvivors(Path("workers")).size(), 1u);
  EXPECT_FALSE(FileExists(Path("workers/local-8")));
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
  found.worker_id = "local-8";
  found.started = "1@another boot";
  launcher->Adopt(found, Path("workers"));
  EXPECT_EQ(exits_.Await(1).at(0).worker_id, "local-8");
  EXPECT_NE(StartOf(record.pid), "") << "it was left alone";
}

TEST_F(SurvivorTest, ARecordThatIsDamagedIsOfNobodyAndTold) {
  Leave("while :; do sleep 0.01; done");
  ASSERT_EQ(FindSurvivors(Path("workers")).size(), 1u);
  std::string text = ReadFile(Path("workers/local-7")).value();
  text[text.find("pid ") + 4] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(Path("workers/local-7"), text).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("workers/local-9"), "nonsense").ok());
  ASSERT_TRUE(CreateDirectories(Path("workers/local-10/mine")).ok());
  TakeRepairs();
  EXPECT_TRUE(FindSurvivors(Path("workers")).empty());
  EXPECT_THAT(TakeRepairs(),
              testing::UnorderedElementsAre(
                  testing::HasSubstr("workers/local-7: it is no whole"),
                  testing::HasSubstr("workers/local-9: it is no whole"),
                  testing::HasSubstr("workers/local-10: it is a folder; it was moved")));
  EXPECT_TRUE(FindSurvivors(Path("workers")).empty());
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
  EXPECT_TRUE(FileExists(Path("workers/local-10.broken-1/mine")));
}

TEST_F(LocalLauncherTest, AWorkerHasARecordWhileItLives) {
  const auto launcher = CreateLocalLauncher(
      Script(fmt::format("while ! [ -e {} ]; do sleep 0.01; done", Path("end"))),
      exits_.Recorder());
  WorkerStart start = Worker("local-1");
  start.record_folder = Path("workers");
  launcher->Start(start);
  // FindSurvivors waits for the record, because it would remove a half-written record.
  AwaitOrFail([&] { return FileExists(Path("workers/local-1")); }, "the worker's record");
  const std::vector<WorkerRecord> found = FindSurvivors(Path("workers"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].token, "secret");
  EXPECT_EQ(found[0].director_address, "unix:/x");
  ASSERT_TRUE(WriteFileAtomic(Path("end"), "").ok());
  EXPECT_EQ(exits_.Await(1).size(), 1u);
  EXPECT_FALSE(FileExists(Path("workers/local-1")));
}

}  // namespace
}  // namespace galley::director
