// DeviceThreads: where a DeviceService runs: its threads, its clock, and the chance by which it
// names sessions. OwnDeviceThreads is the product's; the simulation runs the service on its
// schedule.
//
// Threads: the functions of DeviceThreads are called by the constructor of a DeviceService, but for
// MakeSessionId: any.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "director/shell/tasks.h"

namespace galley::director {

class EndingTasks : public Tasks {
 public:
  // No task is begun any more when the call returns, and none runs. A thread runs the tasks that
  // were posted before; a pool drops those that have not begun. May be called again. REQUIRES: no
  // task is posted any more.
  virtual void End() = 0;
};

// WakeTimer: calls a function when a time has come.
class WakeTimer {
 public:
  virtual ~WakeTimer() = default;
  // The function is called once at or after `at`; an earlier time replaces a later one. Any thread.
  virtual void WakeAt(absl::Time at) = 0;
  // The function is not called any more when the call returns.
  virtual void End() = 0;
};

class DeviceThreads {
 public:
  virtual ~DeviceThreads() = default;
  // Outlives the service.
  virtual Clock& clock() = 0;
  // Turns run in order, and so do builds.
  virtual std::unique_ptr<EndingTasks> MakeTurns() = 0;
  virtual std::unique_ptr<EndingTasks> MakeBuilds() = 0;
  // Runs so many tasks at a time.
  virtual std::unique_ptr<EndingTasks> MakePool(size_t threads) = 0;
  // `now`: the time by which `wake` is called.
  virtual std::unique_ptr<WakeTimer> MakeTimer(std::function<absl::Time()> now,
                                               std::function<void()> wake) = 0;
  // An id that nobody can guess.
  virtual std::string MakeSessionId() = 0;
};

// OwnDeviceThreads: threads of the process, and the clock of the system.
class OwnDeviceThreads final : public DeviceThreads {
 public:
  Clock& clock() override { return clock_; }
  std::unique_ptr<EndingTasks> MakeTurns() override;
  std::unique_ptr<EndingTasks> MakeBuilds() override;
  std::unique_ptr<EndingTasks> MakePool(size_t threads) override;
  std::unique_ptr<WakeTimer> MakeTimer(std::function<absl::Time()> now,
                                       std::function<void()> wake) override;
  std::string MakeSessionId() override;

 private:
  SystemClock clock_;
};

}  // namespace galley::director
