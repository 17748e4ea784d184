#include "director/resident/device_threads.h"

#include <optional>
#include <random>
#include <utility>

#include "common/base/task_pool.h"
#include "director/resident/turn_timer.h"
#include "director/shell/task_thread.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

class OwnThread final : public EndingTasks {
 public:
  void Post(std::function<void()> task) override { thread_.Post(std::move(task)); }
  void End() override { thread_.End(); }

 private:
  TaskThread thread_;
};

class OwnPool final : public EndingTasks {
 public:
  explicit OwnPool(size_t threads) : pool_(std::in_place, threads) {}
  void Post(std::function<void()> task) override { pool_->Post(std::move(task)); }
  void End() override { pool_.reset(); }

 private:
  std::optional<base::TaskPool> pool_;  // until End
};

}  // namespace

std::unique_ptr<EndingTasks> OwnDeviceThreads::MakeTurns() { return std::make_unique<OwnThread>(); }

std::unique_ptr<EndingTasks> OwnDeviceThreads::MakeBuilds() {
  return std::make_unique<OwnThread>();
}

std::unique_ptr<EndingTasks> OwnDeviceThreads::MakePool(size_t threads) {
  return std::make_unique<OwnPool>(threads);
}

std::unique_ptr<WakeTimer> OwnDeviceThreads::MakeTimer(std::function<absl::Time()> now,
                                                       std::function<void()> wake) {
  return std::make_unique<TurnTimer>(std::move(now), std::move(wake));
}

// 128 random bits.
std::string OwnDeviceThreads::MakeSessionId() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

}  // namespace galley::director
