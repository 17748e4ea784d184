// ChildProcess: starts a program that dies with the thread that started it, and says how it ended.
//
// The child gets exactly the environment and descriptors that are named; standard input is
// /dev/null unless given. The child leads a process group, so that Kill ends its children too.
// Descriptors in `inherit` get the numbers that they map to. The death signal is tied to the
// *thread* that starts the child (prctl(2)): start children from a thread that lives as long as
// they should.
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

// ChildWatch: sees some system calls of a child and its descendants before the calls happen
// (worker/walls/call_watch.h). Whoever started the child calls Serve until the child has ended: a
// waiting call goes on only when it is served.
// Threads: one owner.
class ChildWatch {
 public:
  virtual ~ChildWatch() = default;
  // In the child, right before exec. Returns the descriptor through which calls are told; negative:
  // -errno. Only async-signal-safe calls are made.
  virtual int BeginInChild() const = 0;
  // Takes the same descriptor, in the parent.
  virtual void Take(FileDescriptor calls) = 0;
  // Readable when a call waits; -1: no process that makes calls is left.
  virtual int descriptor() const = 0;
  // Lets the waiting call happen, or answers the call. May block.
  virtual void Serve() = 0;
  // A call could not be served: the results of the child must not be used.
  virtual bool has_failed() const = 0;
  // Checks the files that the child wrote in `folder`. FAILED_PRECONDITION: a file holds a path
  // that differs between machines.
  virtual absl::Status CheckWritten(const std::string& folder) const = 0;
};

// ChildWalls: limits what a child and its descendants may change (worker/walls/program_walls.h).
// Threads: any, once made.
class ChildWalls {
 public:
  virtual ~ChildWalls() = default;
  // In the child, before it uses any path. Returns 0 or an errno. Only async-signal-safe calls are
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
  int death_signal = 9;  // sent to the child when the thread that started it ends
  bool new_process_group = true;
  bool no_new_privileges = true;
  ChildWatch* watch = nullptr;        // outlives the child; needs no_new_privileges
  const ChildWalls* walls = nullptr;  // need no_new_privileges
};

struct ExitStatus {
  int code = 0;                    // exit code when signal == 0
  int signal = 0;                  // the signal that ended the child, or 0
  uint64_t cpu_us = 0;             // user and system time
  uint64_t memory_peak_bytes = 0;  // 0: unknown, not above our own peak
  bool ok() const { return code == 0 && signal == 0; }
  // "exit code 3", "signal 9 (Killed)".
  std::string ToString() const;
};

class ChildProcess {
 public:
  // INVALID_ARGUMENT/NOT_FOUND/PERMISSION_DENIED, naming the program: it cannot be executed.
  static absl::StatusOr<ChildProcess> Start(const ChildOptions& options);

  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // Kills and reaps what still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  // Reaps the child and returns its exit status; nullopt: the child still runs.
  std::optional<ExitStatus> Poll();
  // Blocks until the child ends.
  ExitStatus Wait();
  // Blocks for at most `timeout`; nullopt: the child still runs.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout);
  // Sends `signal` to the process group, if there is one, or the child. Does nothing after its end.
  void Kill(int signal);

 private:
  ExitStatus Reap();

  pid_t pid_ = -1;
  bool group_ = false;
  long hidden_peak_kb_ = 0;  // our own peak when the child began, which its peak includes
};

// Makes orphans below this process its children, instead of init's: programs that our tools started
// and that outlived them, daemons too. KillOrphans spares the children that this process has
// already, which exec keeps. Call once, before starting any child.
void AdoptOrphans();
// Kills and reaps every child that no ChildProcess holds, and its descendants. Does nothing unless
// AdoptOrphans was called. REQUIRES: all children of this process are started by ChildProcess.
// Cost: one look at /proc if there are no orphans; else blocks for at most about a second.
void KillOrphans();

// Sends SIGTERM to the process group of every child that a ChildProcess holds. For a process that
// ends without its destructors.
void TerminateChildren();

// Children of every thread of `pid`, zombies too. Some may be missing while others end.
// Source: proc_pid_task_children(5).
std::vector<pid_t> ChildrenOf(pid_t pid);

// Resident set of a process in bytes, from /proc; 0 when it is gone.
uint64_t ResidentBytes(pid_t pid);
// False: the process has ended, even if it is not reaped yet.
bool IsRunning(pid_t pid);
// True: a signal (SIGSTOP, a terminal's Ctrl-Z) or a debugger has stopped the process. False: the
// process runs, or is gone.
bool IsStopped(pid_t pid);
// The sum of ResidentBytes over the descendants of `pid`. Shared memory counts for each process.
uint64_t ResidentBytesBelow(pid_t pid);

// ProcessorUse: the processor use of a process and its descendants.
struct ProcessorUse {
  uint32_t below = 0;  // descendants that have not ended
  // Processor time since the processes began, in ticks of 10 ms; an ended process counts if its
  // parent waited for it.
  absl::Duration time;
  bool wants_more = false;  // a thread runs, or waits for a processor or the disk
};
// Reads /proc; a process that is gone counts for nothing.
// Cost: two small files for each process, one for each thread.
ProcessorUse ProcessorUseOf(pid_t pid);

}  // namespace galley
