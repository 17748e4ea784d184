// InterruptWatch: the first Ctrl-C asks the cook to stop and keep what is finished, the second ends
// the process at once. A signal that this process was started to ignore (nohup) stays ignored. One
// object at a time.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace galley::cli {

class InterruptWatch {
 public:
  // Calls `on_interrupt` on a thread of its own, once, for SIGINT, SIGTERM or SIGHUP.
  explicit InterruptWatch(std::function<void()> on_interrupt);
  ~InterruptWatch();
  bool interrupted() const { return interrupted_.load(); }
  bool terminated() const { return signal() == SIGTERM; }
  int signal() const { return signal_.load(); }  // first signal; 0: none came
  const std::atomic<bool>& flag() const { return interrupted_; }

 private:
  void Watch();
  std::function<void()> on_interrupt_;
  std::atomic<bool> interrupted_{false};
  std::atomic<int> signal_{0};
  int pipe_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace galley::cli
