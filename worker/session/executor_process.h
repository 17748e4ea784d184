// ExecutorProcess: one executor (`galley-worker executor`) from its start to its end: the process,
// the socket by which it is spoken to, the pipe into which it and its programs print, and its notes
// (worker/executor/opened_notes.h).
//
// Threads: that which started it: the child's death signal is tied to it. Send may block for the
// socket's send time-out.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/child_process.h"
#include "common/base/file.h"
#include "worker/executor/frame.h"

namespace galley::worker {

class ExecutorProcess {
 public:
  // `program`: path of galley-worker. The scratch directory is emptied. Errors: the machine's.
  static absl::StatusOr<ExecutorProcess> Start(const std::string& program,
                                               const std::string& scratch_directory);
  // None runs.
  ExecutorProcess() = default;

  bool running() const { return child_.running(); }
  pid_t pid() const { return child_.pid(); }
  // To be polled; -1: there is none (any more).
  int socket() const { return socket_.get(); }
  int log() const { return log_.get(); }
  int notes() const { return notes_.get(); }

  // As SendFrames.
  absl::Status Send(std::span<const std::string> messages);

  enum class Received {
    kNothing,      // now
    kInterrupted,  // there may be something
    kBytes,        // NextFrame may have something
    kEnd,          // it closed its socket, or that is broken
  };
  Received Receive();
  // As FrameReader::Next.
  absl::StatusOr<std::optional<Frame>> NextFrame() { return frames_.Next(); }
  // Hands over what was printed since, as far as that can be had at once without end.
  void ReadLog(absl::FunctionRef<void(std::string_view bytes)> take);

  // nullopt: it did not end in that time.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout) { return child_.WaitFor(timeout); }
  // REQUIRES: running(). What it printed can still be read.
  ExitStatus Kill();
  FileDescriptor TakeNotes() { return std::move(notes_); }
  // Kills and reaps it, and what its programs started; none is left.
  void End();

 private:
  ChildProcess child_;
  FileDescriptor socket_, log_, notes_;
  FrameReader frames_;
};

}  // namespace galley::worker
