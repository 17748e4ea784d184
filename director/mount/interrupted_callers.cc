#include "director/mount/interrupted_callers.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace galley::mount {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);

}  // namespace

// Source: proc(5), "/proc/pid/status".
bool IsDying(pid_t thread) {
  if (thread <= 0) return true;
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  if (!status) return true;
  constexpr uint64_t kKill = uint64_t{1} << (SIGKILL - 1);
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    if ((std::strtoull(line.c_str() + 7, nullptr, 16) & kKill) != 0) return true;
  }
  return false;
}

void InterruptedCallers::Add(Caller caller) {
  if (IsDone(caller)) return;
  const std::lock_guard lock(mutex_);
  if (has_stopped_) return;
  callers_.push_back(std::move(caller));
  if (!looks_.joinable()) looks_ = std::thread([this] { Look(); });
  added_.notify_one();
}

void InterruptedCallers::Stop() {
  std::thread looks;
  {
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
    looks.swap(looks_);
    added_.notify_one();
  }
  if (looks.joinable()) looks.join();
}

bool InterruptedCallers::IsDone(const Caller& caller) const {
  if (caller.is_over()) return true;
  if (!is_dying_(caller.thread)) return false;
  caller.end();
  return true;
}

void InterruptedCallers::Look() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return has_stopped_ || !callers_.empty(); });
    if (added_.wait_for(lock, kBetweenLooks, [this] { return has_stopped_; })) return;
    std::erase_if(callers_, [this](const Caller& caller) { return IsDone(caller); });
  }
}

}  // namespace galley::mount
