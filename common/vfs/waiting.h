// Waiting: how long a call may wait, and whether it has been cancelled.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

namespace galley::vfs {

// Returns milliseconds that never go back.
using Clock = std::function<uint64_t()>;

class Waiting {
 public:
  // Nothing waits longer than this in one piece, so that a cancelled call ends soon.
  static constexpr int kPieceMs = 100;

  // The arguments outlive this object. `stop`: of this call alone; nullptr: it has none.
  Waiting(const Clock& clock, const std::atomic<bool>& is_cancelled, int wait_ms,
          const std::atomic<bool>* stop = nullptr)
      : clock_(clock),
        is_cancelled_(is_cancelled),
        stop_(stop),
        until_(clock() + static_cast<uint64_t>(std::max(wait_ms, 0))) {}

  bool is_cancelled() const {
    return is_cancelled_.load(std::memory_order_relaxed) ||
           (stop_ != nullptr && stop_->load(std::memory_order_relaxed));
  }
  bool is_over() const { return is_cancelled() || clock_() >= until_; }
  // How much is left, at most `max_ms`.
  int LeftMs(int max_ms) const {
    const uint64_t now = clock_();
    if (now >= until_) return 0;
    return static_cast<int>(std::min<uint64_t>(until_ - now, static_cast<uint64_t>(max_ms)));
  }
  int PieceMs() const { return LeftMs(kPieceMs); }
  uint64_t now() const { return clock_(); }
  // This call's, for at most `wait_ms`.
  Waiting ForAtMost(int wait_ms) const {
    return Waiting(clock_, is_cancelled_, LeftMs(wait_ms), stop_);
  }

 private:
  const Clock& clock_;
  const std::atomic<bool>& is_cancelled_;
  const std::atomic<bool>* const stop_;
  const uint64_t until_;
};

}  // namespace galley::vfs
