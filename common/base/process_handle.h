// ProcessHandle: a process that is no child of ours, held by its descriptor (pidfd). Its number may
// go to another once it has ended and its parent has reaped it; what is sent through a handle never
// meets that other one.
//
// Source: pidfd_open(2) (Linux 5.3), pidfd_send_signal(2) (5.1). PIDFD_SIGNAL_PROCESS_GROUP (6.9)
// is not used: programs below a worker lead groups of their own.
// Threads: one owner for each.
#pragma once

#include <sys/types.h>

#include <vector>

#include "common/base/file.h"

namespace galley {

class ProcessHandle {
 public:
  ProcessHandle() = default;
  // Holds the process that has this number now. Invalid when there is none, or no descriptor can be
  // had.
  static ProcessHandle Open(pid_t pid);

  bool valid() const { return descriptor_.valid(); }
  pid_t pid() const { return pid_; }
  int descriptor() const { return descriptor_.get(); }  // readable when it has ended
  bool HasEnded() const;
  // Sends the signal to this process alone. Harmless when it has ended.
  void Signal(int signal) const;
  // Sends SIGKILL to this process and to all below it, those below first. The process is stopped
  // meanwhile, so that it starts nothing more; processes that lose their parent fall to it if it
  // adopts orphans. Blocks until those below it have ended, for at most about a second.
  void KillTree() const;

 private:
  std::vector<ProcessHandle> Below() const;

  pid_t pid_ = -1;
  FileDescriptor descriptor_;
};

}  // namespace galley
