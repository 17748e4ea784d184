// SimDeviceThreads: the threads, the timer and the clock of a DeviceService in the simulation:
// closures that are scheduled. Draws of its own, so that everything else of a seed is planned as
// without devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "director/resident/device_threads.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/sim_ports.h"

namespace galley::simulation {

// SimDeviceTasks: each task runs after a while: in the order of posting, or in any.
class SimDeviceTasks final : public director::EndingTasks {
 public:
  struct Deps {
    Schedule& schedule;
    Random& draws;
    const bool& is_killed;
    int64_t ms_max = 1;
    bool is_in_order = true;  // a thread; false: a pool
  };
  explicit SimDeviceTasks(const Deps& deps) : deps_(deps) {}

  void Post(std::function<void()> task) override {
    const uint64_t number = ++last_;
    tasks_.emplace(number, std::move(task));
    const absl::Time now = deps_.schedule.now();
    const absl::Time begin = deps_.is_in_order ? std::max(now, free_at_) : now;
    const absl::Time at = begin + deps_.draws.Some(deps_.ms_max);
    if (deps_.is_in_order) free_at_ = at;
    deps_.schedule.After(at - now, [this, number, life = std::weak_ptr(life_)] {
      if (!life.expired()) Run(number);
    });
  }
  void End() override {
    while (deps_.is_in_order && !deps_.is_killed && !tasks_.empty()) Run(tasks_.begin()->first);
    tasks_.clear();
  }

 private:
  void Run(uint64_t number) {
    auto task = tasks_.extract(number);
    if (!task.empty()) task.mapped()();
  }

  const Deps deps_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::function<void()>> tasks_;
  absl::Time free_at_ = absl::InfinitePast();
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

class SimWakeTimer final : public director::WakeTimer {
 public:
  SimWakeTimer(Schedule& schedule, std::function<absl::Time()> now, std::function<void()> wake)
      : schedule_(schedule), now_(std::move(now)), wake_(std::move(wake)) {}

  void WakeAt(absl::Time at) override {
    if (at >= at_) return;
    at_ = at;
    const absl::Duration wait = std::max(at - now_(), absl::ZeroDuration());
    schedule_.After(wait, [this, at, life = std::weak_ptr(life_)] {
      if (life.expired() || at_ != at) return;  // an earlier time has replaced this one
      at_ = absl::InfiniteFuture();
      wake_();
    });
  }
  void End() override { at_ = absl::InfinitePast(); }

 private:
  Schedule& schedule_;
  const std::function<absl::Time()> now_;
  const std::function<void()> wake_;
  absl::Time at_ = absl::InfiniteFuture();
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

class SimDeviceThreads final : public director::DeviceThreads {
 public:
  // `name`: begins the ids of sessions, so that those of two directors differ.
  SimDeviceThreads(Schedule& schedule, uint64_t seed, std::string name)
      : schedule_(schedule),
        draws_(seed),
        name_(std::move(name)),
        clock_([this] { return schedule_.now(); }, [this] { return schedule_.now(); }) {}

  // The process dies: no task runs any more.
  void Kill() { is_killed_ = true; }

  Clock& clock() override { return clock_; }
  std::unique_ptr<director::EndingTasks> MakeTurns() override { return MakeTasks(3, true); }
  std::unique_ptr<director::EndingTasks> MakeBuilds() override { return MakeTasks(40, true); }
  std::unique_ptr<director::EndingTasks> MakePool(size_t /*threads*/) override {
    return MakeTasks(20, false);
  }
  std::unique_ptr<director::WakeTimer> MakeTimer(std::function<absl::Time()> now,
                                                 std::function<void()> wake) override {
    return std::make_unique<SimWakeTimer>(schedule_, std::move(now), std::move(wake));
  }
  std::string MakeSessionId() override { return name_ + "-" + std::to_string(++last_id_); }

 private:
  std::unique_ptr<director::EndingTasks> MakeTasks(int64_t ms_max, bool is_in_order) {
    return std::make_unique<SimDeviceTasks>(SimDeviceTasks::Deps{.schedule = schedule_,
                                                                 .draws = draws_,
                                                                 .is_killed = is_killed_,
                                                                 .ms_max = ms_max,
                                                                 .is_in_order = is_in_order});
  }

  Schedule& schedule_;
  Random draws_;
  const std::string name_;
  SimClock clock_;
  bool is_killed_ = false;
  uint64_t last_id_ = 0;
};

}  // namespace galley::simulation
