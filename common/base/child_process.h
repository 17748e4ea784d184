// ChildProcess: starts a program that dies with its parent thread's process, and says how it ended.
//
// The child gets exactly the environment and descriptors that are named; standard input is
// /dev/null unless given. It runs in a process group of its own, so that Kill ends its children
// too. Descriptors in `inherit` keep the numbers that they map to. The parent's death signal is
// tied to the *thread* that starts the child (prctl(2)): start children from a thread that lives as
// long as they should.
//
// Threads: one owner for each.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace galley {

// ChildWatch: sees some system calls of a child, and of all that it starts, before they happen
// (worker/walls/call_watch.h). Whoever started the child serves the calls until it has ended: a
// call that waits goes on only then.
// Threads: one owner.
class ChildWatch {
 public:
  virtual ~ChildWatch() = default;
  // In the child, right before it becomes the program: a descriptor of what its calls are told
  // through; negative: -errno. Only async-signal-safe calls are made.
  virtual int BeginInChild() const = 0;
  // The same descriptor, in the parent.
  virtual void Take(FileDescriptor calls) = 0;
  // Readable when a call waits; -1: there is nobody any more who makes calls.
  virtual int descriptor() const = 0;
  // Lets the call that waits happen, or answers it. May block.
  virtual void Serve() = 0;
  // A call needed something that could not be had: the child is of no use any more.
  virtual bool has_failed() const = 0;
  // Looks through the files that it wrote in `folder`. FAILED_PRECONDITION: one of them says where
  // something was that is elsewhere on another machine.
  virtual absl::Status CheckWritten(const std::string& folder) const = 0;
};

// ChildWalls: what a child, and all that it starts, may not change (worker/walls/program_walls.h).
// Threads: any, once made.
class ChildWalls {
 public:
  virtual ~ChildWalls() = default;
  // In the child, before it looks at any path: 0, or an errno. Only async-signal-safe calls are
  // made.
  virtual int EnterInChild() const = 0;
};

struct ChildOptions {
  std::vector<std::string> argv;             // argv[0] is a path
  std::vector<std::string> environment;      // NAME=value; nothing else is passed
  bool inherit_environment = false;          // put `environment` on top of ours instead
  std::string working_directory;             // empty: ours
  std::vector<std::pair<int, int>> inherit;  // pairs of our descriptor and its number in the child
  uint64_t file_size_bytes_max = 0;          // RLIMIT_FSIZE; 0: none
  uint64_t memory_bytes_max = 0;             // RLIMIT_AS; 0: none
  int death_signal = 9;  // sent to it when our thread that started it ends, by whatever cause
  bool new_process_group = true;
  bool no_new_privileges = true;
  ChildWatch* watch = nullptr;        // outlives the child; needs no_new_privileges
  const ChildWalls* walls = nullptr;  // need no_new_privileges
};

struct ExitStatus {
  int code = 0;                    // exit code when signal == 0
  int signal = 0;                  // the signal that ended it, or 0
  uint64_t cpu_us = 0;             // user and system time
  uint64_t memory_peak_bytes = 0;  // 0: not more than we held when it began, which hides it
  bool ok() const { return code == 0 && signal == 0; }
  // "exit code 3", "signal 9 (Killed)".
  std::string ToString() const;
};

class ChildProcess {
 public:
  // INVALID_ARGUMENT/NOT_FOUND/PERMISSION_DENIED when the program cannot be executed; names it.
  static absl::StatusOr<ChildProcess> Start(const ChildOptions& options);

  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // Kills and reaps what still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  // The exit status when it has ended (it is reaped); nullopt while it runs.
  std::optional<ExitStatus> Poll();
  // Blocks until it ends.
  ExitStatus Wait();
  // Blocks for at most `timeout`; nullopt if it still runs.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout);
  // Sends `signal` to the whole process group. Harmless when it has ended.
  void Kill(int signal);

 private:
  ExitStatus Reap();

  pid_t pid_ = -1;
  bool group_ = false;
  long hidden_peak_kb_ = 0;  // what its peak begins with: it shared our memory until it ran
};

// Makes this process the one that orphans below it fall to, instead of init: programs that a tool
// of ours started and that outlived it, daemons too. Children that this process has already (exec
// keeps them) are left alone by KillOrphans. Call once, before starting any.
void AdoptOrphans();
// Kills and reaps every child that no ChildProcess holds, with all below it. Does nothing unless
// AdoptOrphans was called. REQUIRES: all children of this process are started by ChildProcess.
// Cost: one look at /proc; blocks until they are gone, for at most about a second.
void KillOrphans();

// Asks every child that a ChildProcess holds in a group of its own to end (SIGTERM). For a process
// that ends without its destructors.
void TerminateChildren();

// Children of every thread of `pid`, zombies too. Some may be missing while others end.
// Source: proc_pid_task_children(5).
std::vector<pid_t> ChildrenOf(pid_t pid);

// Resident set of a process in bytes, from /proc; 0 when it is gone.
uint64_t ResidentBytes(pid_t pid);
// False: it has ended, though perhaps its parent has not asked how yet.
bool IsRunning(pid_t pid);
// A signal (SIGSTOP, a terminal's Ctrl-Z) or a debugger holds it, and it goes on when somebody says
// so. False also when it is gone.
bool IsStopped(pid_t pid);
// The same, summed over all processes below `pid`, without itself. Memory that they share counts
// for each.
uint64_t ResidentBytesBelow(pid_t pid);

// ProcessorUse: how much `pid` and all processes below it use the processor.
struct ProcessorUse {
  uint32_t below = 0;  // processes below it that have not ended
  // The time that they used since they began, in ticks of 10 ms; that of a process that has ended
  // counts if its parent waited for it.
  absl::Duration time;
  bool wants_more = false;  // one of their threads runs, or waits for a processor or the disk
};
// Reads /proc; a process that is gone counts for nothing.
// Cost: two small files for each process, one for each thread.
ProcessorUse ProcessorUseOf(pid_t pid);

}  // namespace galley
