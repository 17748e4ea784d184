// Schedule: the simulation's only thread and its clock. Acts of the same moment happen in the order
// in which they were asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "absl/time/time.h"

namespace galley::simulation {

class Schedule {
 public:
  using Act = std::function<void()>;

  absl::Time now() const { return now_; }
  absl::Duration elapsed() const { return now_ - absl::UnixEpoch(); }
  void After(absl::Duration delay, Act act) {
    queue_.emplace(std::pair(now_ + delay, sequence_++), std::move(act));
  }
  // Nobody runs meanwhile: acts that were due happen late.
  void Pause(absl::Duration duration) { now_ += duration; }
  // False: no act is left.
  bool RunNext() {
    if (queue_.empty()) return false;
    const auto next = queue_.begin();
    now_ = std::max(now_, next->first.first);
    const Act act = std::move(next->second);
    queue_.erase(next);
    act();
    return true;
  }

 private:
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sequence_ = 0;
  std::map<std::pair<absl::Time, uint64_t>, Act> queue_;
};

// The only source of chance in a run. std's distributions are not used, since they differ between
// libraries.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool Percent(uint64_t percent) { return Below(100) < percent; }
  // 1 .. ms_max milliseconds.
  absl::Duration Some(int64_t ms_max) {
    return absl::Milliseconds(1 + static_cast<int64_t>(Below(static_cast<uint64_t>(ms_max))));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace galley::simulation
