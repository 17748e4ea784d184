// Simulation ports: the ports on which the shell's owners of effects stand in the simulation. Tasks
// and messages are closures that are scheduled, and the clock is the schedule's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "director/shell/inbox.h"
#include "director/shell/tasks.h"

namespace galley::simulation {

class SimClock final : public Clock {
 public:
  SimClock(std::function<absl::Time()> wall, std::function<absl::Time()> monotonic)
      : wall_(std::move(wall)), monotonic_(std::move(monotonic)) {}
  absl::Time Now() override { return wall_(); }
  absl::Time Monotonic() override { return monotonic_(); }

 private:
  const std::function<absl::Time()> wall_, monotonic_;
};

// SimTasks: tasks run in order, one after the other, each after a while.
class SimTasks final : public director::Tasks {
 public:
  // Runs `act` at most `ms_max` later, and after earlier acts.
  using Schedule = std::function<void(int64_t ms_max, std::function<void()> act)>;
  SimTasks(int64_t ms_max, Schedule schedule) : ms_max_(ms_max), schedule_(std::move(schedule)) {}

  void Post(std::function<void()> task) override { PostWithin(ms_max_, std::move(task)); }
  void PostWithin(int64_t ms_max, std::function<void()> task) {
    last_ = std::make_shared<std::vector<std::function<void()>>>();
    last_->push_back(std::move(task));
    ++posted_;
    schedule_(ms_max, [this, acts = last_] { Run(acts); });
  }
  // The number of posted tasks.
  size_t posted() const { return posted_; }
  // Runs `act` in the same turn as the last posted task. REQUIRES: that task has not run.
  void Behind(std::function<void()> act) { last_->push_back(std::move(act)); }

  // No task runs until Release.
  void Hold() { is_held_ = true; }
  void Release() {
    is_held_ = false;
    while (!is_held_ && !held_.empty()) {
      const Acts acts = held_.front();
      held_.pop_front();
      for (const std::function<void()>& act : *acts) act();
    }
  }

 private:
  using Acts = std::shared_ptr<std::vector<std::function<void()>>>;

  void Run(const Acts& acts) {
    if (is_held_) return held_.push_back(acts);
    for (const std::function<void()>& act : *acts) act();
  }

  const int64_t ms_max_;
  const Schedule schedule_;
  size_t posted_ = 0;
  bool is_held_ = false;
  std::deque<Acts> held_;
  Acts last_;
};

// SimInbox: messages are taken in order, each after a while.
class SimInbox final : public director::Inbox {
 public:
  struct Deps {
    SimTasks& tasks;
    // Runs its argument after a while; arguments run in order.
    std::function<void(std::function<void()>)> schedule;
    std::function<void(const director::Event&)> step;
  };
  explicit SimInbox(Deps deps) : deps_(std::move(deps)) {}

  void PostEvent(director::Event event) override {
    deps_.schedule([this, event = std::move(event)] { deps_.step(event); });
  }
  void PostTask(Task task) override { deps_.schedule(std::move(task)); }
  void RunOnLoop(Task task, Task then) override {
    deps_.tasks.Hold();
    deps_.schedule([this, task = std::move(task), then = std::move(then)] {
      task();
      then();
      deps_.tasks.Release();
    });
  }
  void HandleNow(const director::Event& event) override { deps_.step(event); }

 private:
  const Deps deps_;
};

}  // namespace galley::simulation
