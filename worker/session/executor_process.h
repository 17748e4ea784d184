// ExecutorProcess: an executor (`galley-worker executor`) from its start to its end: the process,
// the socket to talk to it, the pipe into which it and its programs print, and its notes
// (worker/executor/opened_notes.h).
//
// Threads: the one that started it, since the child's death signal is tied to that thread. Send may
// block for the socket's send time-out.
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
  // `program`: the path of galley-worker. The scratch directory is emptied. Errors: the machine's.
  static absl::StatusOr<ExecutorProcess> Start(const std::string& program,
                                               const std::string& scratch_directory);
  // No executor runs.
  ExecutorProcess() = default;

  bool running() const { return child_.running(); }
  pid_t pid() const { return child_.pid(); }
  // Descriptors to be polled; -1: not open.
  int socket() const { return socket_.get(); }
  int log() const { return log_.get(); }
  int notes() const { return notes_.get(); }

  // See SendFrames.
  absl::Status Send(std::span<const std::string> messages);

  enum class Received {
    kNothing,      // nothing has arrived
    kInterrupted,  // something may have arrived
    kBytes,        // NextFrame may have a frame
    kEnd,          // the executor closed its socket, or the socket is broken
  };
  Received Receive();
  // See FrameReader::Next.
  absl::StatusOr<std::optional<Frame>> NextFrame() { return frames_.Next(); }
  // Hands over the output since the last call, as far as it can be read without blocking; a flood
  // is cut short.
  void ReadLog(absl::FunctionRef<void(std::string_view bytes)> take);

  // nullopt: the executor did not end within `timeout`.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout) { return child_.WaitFor(timeout); }
  // Kills the executor and waits for its end; its output can still be read. REQUIRES: running().
  ExitStatus Kill();
  FileDescriptor TakeNotes() { return std::move(notes_); }
  // Kills and reaps the executor, and all processes that its programs started.
  void End();

 private:
  ChildProcess child_;
  FileDescriptor socket_, log_, notes_;
  FrameReader frames_;
};

}  // namespace galley::worker
