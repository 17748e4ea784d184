#include "director/cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/base/child_process.h"
#include "common/base/status_macros.h"
#include "director/cli/exit_code.h"

namespace galley::cli {
namespace {

std::atomic<int> g_pipe{-1};

void OnSignal(int signal) {
  const int saved = errno;
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] const ssize_t written = ::write(g_pipe.load(), &byte, 1);
  errno = saved;
}

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr char kQuit = 0;  // the number of no signal

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  GALLEY_CHECK(::pipe2(pipe_, O_CLOEXEC) == 0);
  g_pipe = pipe_[1];
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
  thread_ = std::thread([this] { Watch(); });
}

InterruptWatch::~InterruptWatch() {
  for (const int signal : kSignals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == OnSignal)
      ::signal(signal, SIG_DFL);
  }
  [[maybe_unused]] const ssize_t written = ::write(pipe_[1], &kQuit, 1);
  thread_.join();
  g_pipe = -1;
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void InterruptWatch::Watch() {
  char byte = 0;
  while (true) {
    const ssize_t count = ::read(pipe_[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || byte == kQuit) return;
    if (!interrupted_) signal_ = byte;
    if (interrupted_.exchange(true)) {
      TerminateChildren();  // workers would wait for another director
      ::_exit(kInterrupted);
    }
    on_interrupt_();
  }
}

}  // namespace galley::cli
