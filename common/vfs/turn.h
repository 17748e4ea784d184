// Turn: one caller after the other, each waiting as long as its call may.
//
//   Turn turn;
//   const Turn::Holder holder = turn.Take(waiting);
//   if (!holder.has_turn()) ...  // cancelled, or not in time
//
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "common/vfs/waiting.h"

namespace galley::vfs {

class Turn {
 public:
  class Holder {
   public:
    explicit Holder(Turn* turn) : turn_(turn) {}
    Holder(Holder&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Holder& operator=(Holder&&) = delete;
    ~Holder() {
      if (turn_ != nullptr) turn_->End();
    }
    bool has_turn() const { return turn_ != nullptr; }

   private:
    Turn* turn_;
  };

  Holder Take(const Waiting& waiting) {
    std::unique_lock lock(mutex_);
    while (is_taken_) {
      if (waiting.is_over()) return Holder(nullptr);
      ended_.wait_for(lock, std::chrono::milliseconds(Waiting::kPieceMs));
    }
    is_taken_ = true;
    return Holder(this);
  }

 private:
  void End() {
    const std::lock_guard lock(mutex_);
    is_taken_ = false;
    ended_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_taken_ = false;  // guarded by mutex_
};

}  // namespace galley::vfs
