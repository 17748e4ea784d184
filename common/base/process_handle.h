// ProcessHandle: a process that is no child of ours, held by its descriptor (pidfd). A signal
// through the handle never reaches another process that got the number after this process was
// reaped.
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
  // Holds the process that has this number now. Invalid: there is no process or no descriptor.
  static ProcessHandle Open(pid_t pid);

  bool valid() const { return descriptor_.valid(); }
  pid_t pid() const { return pid_; }
  int descriptor() const { return descriptor_.get(); }  // readable once the process has ended
  bool HasEnded() const;
  // Sends the signal to this process alone. Does nothing if the process has ended.
  void Signal(int signal) const;
  // Sends SIGKILL to the descendants, the deepest first, and then to this process. Meanwhile the
  // process is stopped, so that it starts nothing more, and gets the orphans if it adopts orphans.
  // Blocks until the descendants have ended, for at most about a second.
  void KillTree() const;

 private:
  std::vector<ProcessHandle> Below() const;

  pid_t pid_ = -1;
  FileDescriptor descriptor_;
};

}  // namespace galley
