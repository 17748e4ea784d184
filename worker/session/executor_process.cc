#include "worker/session/executor_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "common/base/own_program.h"
#include "common/base/status_macros.h"
#include "worker/executor/executor_loop.h"
#include "worker/executor/opened_notes.h"

namespace galley::worker {
namespace {

constexpr int kSendTimeoutSeconds = 10;

}  // namespace

absl::StatusOr<ExecutorProcess> ExecutorProcess::Start(const std::string& program,
                                                       const std::string& scratch_directory) {
  ExecutorProcess started;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return ErrnoStatus(errno, "socket for", program);
  started.socket_ = FileDescriptor(sockets[0]);
  const FileDescriptor theirs(sockets[1]);
  int log[2];
  if (::pipe2(log, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", program);
  started.log_ = FileDescriptor(log[0]);
  const FileDescriptor log_end(log[1]);
  ASSIGN_OR_RETURN(started.notes_, MakeOpenedNotes());
  ::fcntl(started.log(), F_SETFL, O_NONBLOCK);
  const timeval send_timeout{.tv_sec = kSendTimeoutSeconds, .tv_usec = 0};
  ::setsockopt(started.socket(), SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof(send_timeout));
  RETURN_IF_ERROR(RemoveAll(scratch_directory));  // leftovers of a killed executor
  RETURN_IF_ERROR(CreateDirectories(scratch_directory));
  std::vector<std::string> command = CommandOf(program);
  command.emplace_back("executor");
  ASSIGN_OR_RETURN(started.child_,
                   ChildProcess::Start({.argv = std::move(command),
                                        .inherit_environment = true,
                                        .inherit = {{theirs.get(), kExecutorSocket},
                                                    {started.notes(), kExecutorNotes},
                                                    {log_end.get(), 2}}}));
  return started;
}

absl::Status ExecutorProcess::Send(std::span<const std::string> messages) {
  std::vector<FrameView> frames;
  frames.reserve(messages.size());
  for (const std::string& message : messages) frames.push_back({FrameKind::kMessage, message});
  return SendFrames(socket_.get(), frames);
}

ExecutorProcess::Received ExecutorProcess::Receive() {
  char piece[256 << 10];
  const ssize_t count = ::recv(socket_.get(), piece, sizeof(piece), MSG_DONTWAIT);
  if (count < 0 && errno == EINTR) return Received::kInterrupted;
  if (count < 0 && errno == EAGAIN) return Received::kNothing;
  if (count <= 0) return Received::kEnd;
  frames_.Add({piece, static_cast<size_t>(count)});
  return Received::kBytes;
}

void ExecutorProcess::ReadLog(absl::FunctionRef<void(std::string_view bytes)> take) {
  char piece[16 << 10];
  // The number of pieces in a turn is limited: a flood must not keep the thread from its other
  // work.
  for (int i = 0; i < 8 && log_.valid(); ++i) {
    const ssize_t count = ::read(log_.get(), piece, sizeof(piece));
    if (count > 0) {
      take({piece, static_cast<size_t>(count)});
    } else if (count == 0) {
      log_.Reset();
    } else if (errno != EINTR) {
      return;
    }
  }
}

ExitStatus ExecutorProcess::Kill() {
  child_.Kill(SIGKILL);
  return child_.Wait();
}

void ExecutorProcess::End() {
  child_ = ChildProcess();  // kills and reaps
  KillOrphans();            // programs of the executor die; their children become ours
  socket_.Reset();
  log_.Reset();
  notes_.Reset();
  frames_ = FrameReader();
}

}  // namespace galley::worker
