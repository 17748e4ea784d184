#include "common/base/process_handle.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "common/base/child_process.h"

namespace galley {
namespace {

constexpr int kPatienceMs = 30'000;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
  }
  FileDescriptor reading;
  FileDescriptor writing;
};

// The next byte; '\0': no process that could write one is left.
char Next(const Pipe& pipe) {
  char byte = '\0';
  pollfd event{pipe.reading.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, kPatienceMs), 1) << "nobody wrote, and somebody lives";
  EXPECT_GE(::read(pipe.reading.get(), &byte, 1), 0);
  return byte;
}

// A shell that runs `script`. Its standard output, and that of all its descendants, is a pipe: at
// the pipe's end all of them have ended. Orphans fall to the shell, as they do to a worker.
class Tree {
 public:
  explicit Tree(const char* script) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(said_.writing.get(), STDOUT_FILENO);
      ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    said_.writing.Reset();
    handle_ = ProcessHandle::Open(pid_);
  }
  ~Tree() {
    handle_.KillTree();
    ::waitpid(pid_, nullptr, 0);
  }

  const ProcessHandle& handle() const { return handle_; }
  // Waits until the tree has written `count` bytes.
  void Hear(int count) const {
    for (int i = 0; i < count; ++i) ASSERT_NE(Next(said_), '\0');
  }
  // Whether no process of the tree lives; does not wait.
  bool IsSilent() const {
    char bytes[4096];
    ssize_t count = 0;
    ::fcntl(said_.reading.get(), F_SETFL, O_NONBLOCK);
    while ((count = ::read(said_.reading.get(), bytes, sizeof(bytes))) > 0) {
    }
    return count == 0;
  }
  void AwaitItsEnd() const {
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
  }

 private:
  Pipe said_;
  pid_t pid_ = -1;
  ProcessHandle handle_;
};

// A process that answers each byte with '+'. `number` 0: any number.
pid_t StartEcho(pid_t number, const Pipe& asked, const Pipe& answered) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  if (number != 0) {
    arguments.set_tid = reinterpret_cast<uint64_t>(&number);
    arguments.set_tid_size = 1;
  }
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
  if (pid != 0) return pid;
  char byte = '\0';
  while (::read(asked.reading.get(), &byte, 1) == 1) {
    if (::write(answered.writing.get(), "+", 1) != 1) break;
  }
  ::_exit(0);
}

TEST(ProcessHandleTest, WhatIsSentMeetsNoOtherProcessThatGotItsNumber) {
  Pipe asked;
  Pipe answered;
  const pid_t first = StartEcho(0, asked, answered);
  ASSERT_GT(first, 0);
  const ProcessHandle handle = ProcessHandle::Open(first);
  ASSERT_TRUE(handle.valid());
  EXPECT_FALSE(handle.HasEnded());
  handle.Signal(SIGKILL);
  ASSERT_EQ(::waitpid(first, nullptr, 0), first);
  EXPECT_TRUE(handle.HasEnded());
  const pid_t second = StartEcho(first, asked, answered);
  if (second < 0) GTEST_SKIP() << "numbers cannot be chosen here: " << errno;
  ASSERT_EQ(second, first);
  handle.Signal(SIGKILL);
  handle.KillTree();
  answered.writing.Reset();
  EXPECT_EQ(::write(asked.writing.get(), "?", 1), 1);
  EXPECT_EQ(Next(answered), '+');
  EXPECT_TRUE(handle.HasEnded());
  ::kill(second, SIGKILL);
  ::waitpid(second, nullptr, 0);
}

TEST(ProcessHandleTest, NobodyIsHeldByANumberThatNobodyHas) {
  const ProcessHandle nobody = ProcessHandle::Open(0x3fffff);
  EXPECT_FALSE(nobody.valid());
  nobody.Signal(SIGKILL);
  nobody.KillTree();
}

TEST(ProcessHandleTest, ASignalIsForItAlone) {
  const Tree tree("sleep 100 & trap 'printf t; exit' TERM; echo; wait");
  tree.Hear(1);
  const std::vector<pid_t> children = ChildrenOf(tree.handle().pid());
  ASSERT_EQ(children.size(), 1u);
  const ProcessHandle child = ProcessHandle::Open(children[0]);
  tree.handle().Signal(SIGTERM);
  tree.Hear(1);
  tree.AwaitItsEnd();
  EXPECT_TRUE(tree.handle().HasEnded());
  EXPECT_FALSE(child.HasEnded());
  child.Signal(SIGKILL);
}

TEST(ProcessHandleTest, ATreeIsKilledWithWhatLeftItsGroupsAndWhoseParentsHaveEnded) {
  const Tree other("echo; sleep 100");
  other.Hear(1);
  const Tree tree(
      "trap '' TERM HUP\n"
      "sh -c 'echo; sleep 100 & sleep 100 & wait' &\n"
      "(setsid sh -c 'echo; sleep 100; :' &)\n"
      "setsid sh -c 'echo; (sleep 100 &) ; exec sleep 100' &\n"
      "wait");
  tree.Hear(3);
  tree.handle().KillTree();
  tree.AwaitItsEnd();
  EXPECT_TRUE(tree.IsSilent());
  EXPECT_FALSE(other.IsSilent());
}

TEST(ProcessHandleTest, WhatATreeStartsMeanwhileIsKilled) {
  // The shell itself, a child, and a process whose parent has ended start more and more processes.
  const Tree tree(
      "more() { i=0; while [ $i -lt 100 ]; do sleep 100 & printf .; i=$((i+1)); done; wait; }\n"
      "more & (more &)\nmore");
  tree.Hear(30);
  tree.handle().KillTree();
  tree.AwaitItsEnd();
  EXPECT_TRUE(tree.IsSilent());
}

}  // namespace
}  // namespace galley
