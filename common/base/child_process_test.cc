#include "common/base/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <functional>
#include <string>
#include <thread>

#include "common/base/file.h"
#include "common/base/testing/await.h"

namespace galley {
namespace {

ChildOptions Shell(const std::string& script) {
  return ChildOptions{.argv = {"/bin/sh", "-c", script}};
}

TEST(ChildProcessTest, SaysHowItEnded) {
  auto child = ChildProcess::Start(Shell("exit 3"));
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(child->Wait().code, 3);
  auto killed = ChildProcess::Start(Shell("kill -TERM $$"));
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->Wait().signal, SIGTERM);
}

TEST(ChildProcessTest, ProgramThatCannotBeStartedIsNamed) {
  auto child = ChildProcess::Start({.argv = {"/no/such/program"}});
  EXPECT_TRUE(absl::IsNotFound(child.status()));
  EXPECT_NE(child.status().ToString().find("/no/such/program"), std::string::npos);
}

TEST(ChildProcessTest, EnvironmentAndDescriptorsAreExactlyTheOnesNamed) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  FileDescriptor read_end(pipe_fds[0]);
  FileDescriptor write_end(pipe_fds[1]);
  auto child = ChildProcess::Start(
      {.argv = {"/usr/bin/env"}, .environment = {"A=b"}, .inherit = {{write_end.get(), 1}}});
  ASSERT_TRUE(child.ok());
  write_end.Reset();
  EXPECT_TRUE(child->Wait().ok());
  char buffer[64];
  const ssize_t count = read(read_end.get(), buffer, sizeof(buffer));
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(count)), "A=b\n");
}

TEST(ChildProcessTest, KillEndsTheWholeGroup) {
  auto child = ChildProcess::Start(Shell("sleep 1000 & wait"));
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(child->WaitFor(absl::Milliseconds(1)).has_value());
  child->Kill(SIGKILL);
  EXPECT_EQ(child->Wait().signal, SIGKILL);
}

TEST(ChildProcessTest, FileSizeLimitHolds) {
  ChildOptions options = Shell(
      "head -c 100000 /dev/zero > /dev/shm/galley_limit_test; rc=$?; rm -f "
      "/dev/shm/galley_limit_test; exit $rc");
  options.file_size_bytes_max = 1000;
  auto child = ChildProcess::Start(options);
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(child->Wait().ok());
}

TEST(ChildProcessTest, AProcessThatEndedDoesNotRunThoughNobodyAskedHow) {
  EXPECT_TRUE(IsRunning(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsRunning(child));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(IsRunning(child));
}

TEST(ChildProcessTest, AProcessThatASignalHoldsIsStoppedUntilItGoesOn) {
  EXPECT_FALSE(IsStopped(getpid()));
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED), 0);
  EXPECT_TRUE(IsStopped(child));
  EXPECT_TRUE(IsRunning(child)) << "it has not ended";
  kill(child, SIGCONT);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(IsStopped(child));
}

TEST(ChildProcessTest, ResidentBytesOfThisProcessIsPositive) {
  EXPECT_GT(ResidentBytes(getpid()), 1000u);
}

// The pid that `script` prints first, and the child that runs it.
struct Speaker {
  ChildProcess child;
  pid_t said = -1;
};
Speaker StartSpeaker(const std::string& script) {
  int pipe_fds[2];
  EXPECT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  const FileDescriptor read_end(pipe_fds[0]);
  const FileDescriptor write_end(pipe_fds[1]);
  ChildOptions options = Shell(script);
  options.inherit = {{write_end.get(), 1}};
  Speaker speaker{.child = *ChildProcess::Start(options)};
  char buffer[64] = {};
  EXPECT_GT(read(read_end.get(), buffer, sizeof(buffer) - 1), 0);
  speaker.said = static_cast<pid_t>(std::stol(buffer));
  return speaker;
}

// Compares once the values agree or patience ends: a program that has just started still grows.
void ExpectSameOnceSettled(const std::function<uint64_t()>& a, const std::function<uint64_t()>& b) {
  uint64_t first = 0;
  uint64_t second = 0;
  AwaitOrFail(
      [&] {
        first = a();
        second = b();
        return first == second;
      },
      "two values that agree");
  EXPECT_EQ(first, second);
}

TEST(ChildProcessTest, OrphansThatLeftTheGroupAreKilledAndWhatIsHeldIsNot) {
  AdoptOrphans();
  auto held = ChildProcess::Start(Shell("exec sleep 1000"));
  ASSERT_TRUE(held.ok());
  Speaker daemon = StartSpeaker("setsid sh -c 'echo $$; sleep 1000; :' & wait");
  daemon.child.Kill(SIGKILL);
  daemon.child.Wait();
  EXPECT_EQ(kill(daemon.said, 0), 0) << "it should have left the group";
  AwaitOrFail(
      [&] {
        KillOrphans();
        return kill(daemon.said, 0) != 0;
      },
      "the end of the daemon");
  EXPECT_NE(kill(daemon.said, 0), 0);
  EXPECT_TRUE(held->running());
  EXPECT_FALSE(held->Poll().has_value());
  ExpectSameOnceSettled([] { return ResidentBytesBelow(getpid()); },
                        [&] { return ResidentBytes(held->pid()); });
}

TEST(ChildProcessTest, MemoryBelowIsThatOfChildrenAndTheirChildren) {
  Speaker speaker = StartSpeaker("sleep 1000 & echo $!; wait");
  ExpectSameOnceSettled([&] { return ResidentBytesBelow(speaker.child.pid()); },
                        [&] { return ResidentBytes(speaker.said); });
  const auto both = [&] {
    return ResidentBytes(speaker.child.pid()) + ResidentBytes(speaker.said);
  };
  ExpectSameOnceSettled([&] { return std::min(ResidentBytesBelow(getpid()), both()); }, both);
}

// Asks until the condition holds: a process that has just begun runs for a moment, and a process
// that is told to run may not be seen yet.
template <typename Condition>
ProcessorUse UseOnce(pid_t pid, Condition condition) {
  ProcessorUse use;
  AwaitOrFail(
      [&] {
        use = ProcessorUseOf(pid);
        return condition(use);
      },
      "a use of the processor");
  return use;
}

TEST(ChildProcessTest, ProcessorUseIsThatOfAProcessAndAllBelowIt) {
  // The second shell's loop runs; the third shell has ended, and its time counts with its parent's.
  const Speaker speaker = StartSpeaker(
      "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; "
      "sh -c 'echo $$; while :; do :; done' & wait");
  const ProcessorUse use = UseOnce(speaker.child.pid(), [](const ProcessorUse& seen) {
    return seen.wants_more && seen.time >= absl::Milliseconds(200);
  });
  EXPECT_EQ(use.below, 1u);
  EXPECT_TRUE(use.wants_more);
  EXPECT_GE(use.time, absl::Milliseconds(200));
  ASSERT_EQ(kill(speaker.said, SIGSTOP), 0);
  EXPECT_FALSE(UseOnce(speaker.child.pid(), [](const ProcessorUse& seen) {
                 return !seen.wants_more;
               }).wants_more);
  EXPECT_GE(ProcessorUseOf(speaker.child.pid()).time, use.time);
  ASSERT_EQ(kill(speaker.said, SIGKILL), 0);
  EXPECT_EQ(
      UseOnce(speaker.child.pid(), [](const ProcessorUse& seen) { return seen.below == 0; }).below,
      0u);
  EXPECT_EQ(ProcessorUseOf(0x7ffffff0).below, 0u) << "there is no such process";
}

TEST(ChildProcessTest, ProcessorUseIsOfProcessesHoweverFarBelow) {
  const Speaker speaker = StartSpeaker("sh -c 'sleep 1000 & echo $!; wait' & wait");
  EXPECT_EQ(
      UseOnce(speaker.child.pid(), [](const ProcessorUse& seen) { return seen.below == 2; }).below,
      2u);
}

TEST(ChildProcessTest, ProcessorUseIsNotOfWhatHasEndedThoughNobodyWaitedForIt) {
  // A shell waits for its ended children, so the child ends only once the shell has become another
  // program.
  const Speaker speaker = StartSpeaker(
      "sh -c 'while read -r name < /proc/$PPID/comm && [ $name != sleep ]; do :; done' & echo $!;"
      " exec sleep 1000");
  EXPECT_EQ(
      UseOnce(speaker.child.pid(), [](const ProcessorUse& seen) { return seen.below == 0; }).below,
      0u);
  EXPECT_EQ(kill(speaker.said, 0), 0) << "it should be there still";
}

TEST(ChildProcessTest, ProcessorUseIsThatOfThoseWhoWereWaitedForToo) {
  // The ended shell used ten ticks before: fields 14 and 15 of proc(5).
  const Speaker speaker = StartSpeaker(
      "sh -c 'while read -r stat < /proc/$$/stat && set -- ${stat##*) } &&"
      " [ $((${12} + ${13})) -lt 10 ]; do :; done'; echo $$; exec sleep 1000");
  EXPECT_EQ(speaker.said, speaker.child.pid());
  EXPECT_GE(ProcessorUseOf(speaker.child.pid()).time, absl::Milliseconds(100));
}

TEST(ChildProcessTest, ProcessorUseIsInTicksOfTheKernels) {
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return absl::DurationFromTimespec(now);
  };
  const absl::Duration before = ProcessorUseOf(getpid()).time;
  const absl::Duration end = used() + absl::Milliseconds(200);
  while (used() < end) {
  }
  const absl::Duration seen = ProcessorUseOf(getpid()).time - before;
  EXPECT_GE(seen, absl::Milliseconds(150));
  EXPECT_LE(seen, absl::Milliseconds(400));
}

TEST(ChildProcessTest, TheDeathSignalIsTheOneNamed) {
  ChildOptions options = Shell("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done");
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  const FileDescriptor read_end(pipe_fds[0]);
  options.inherit = {{pipe_fds[1], 1}};
  options.death_signal = SIGTERM;
  ChildProcess child;
  std::thread starter([&] {
    child = *ChildProcess::Start(options);
    char buffer[8];
    EXPECT_GT(read(read_end.get(), buffer, sizeof(buffer)), 0);  // the trap is set
  });
  starter.join();
  close(pipe_fds[1]);
  EXPECT_EQ(child.Wait().code, 5);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
long FaultsSoFar() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(ChildProcessTest, TheMemoryOfAProcessIsNotCopiedForItsChildren) {
  // After a fork each of these pages would have to be made writable again.
  constexpr size_t kBytes = 64 << 20;
  constexpr size_t kPage = 4096;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<volatile char*>(memory);
  const auto touch = [&] {
    for (size_t at = 0; at < kBytes; at += kPage) bytes[at] = 1;
  };
  touch();
  auto child = ChildProcess::Start(Shell("exit 0"));
  ASSERT_TRUE(child.ok()) << child.status();
  const long before = FaultsSoFar();
  touch();
  EXPECT_LT(FaultsSoFar() - before, static_cast<long>(kBytes / kPage / 2));
  EXPECT_TRUE(child->Wait().ok());
  ::munmap(memory, kBytes);
}
#endif

TEST(ChildProcessTest, NoHandlerOfOursIsLeftInAChildAndNoSignalBlocked) {
  struct sigaction before {};
  struct sigaction ours {};
  ours.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &ours, &before), 0);
  auto child = ChildProcess::Start(Shell("kill -USR1 $$; exit 3"));
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(child->Wait().signal, SIGUSR1);
  struct sigaction after {};
  ::sigaction(SIGUSR1, &before, &after);
  EXPECT_EQ(after.sa_handler, ours.sa_handler) << "ours stays as it was";
}

}  // namespace
}  // namespace galley
