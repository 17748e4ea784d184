// DirectorShell: the loop around CookCore. The loop gives events to the core, and gives each effect
// to the owner that carries it out (cook_owners.h, worker_owners.h).
//
//   Start   (Follow | Cook | Ask | Remember)*   Stop
//
// Workers and worlds outlive a cook; the state of one cook is in its ActiveCook.
//
//   loop thread      drains the inbox, steps the core, hands out effects
//   asking threads   one for each cook: hears the events of the cook, stages
//   look-up threads  LookUps
//   commit thread    CommitGroup, publishing, successor snapshots: in order
//   device thread    what devices wait for, beside the commits
//   root thread      builds whole roots, beside the commits
//   stream threads   one for each attached worker (WorkerService), convert reports (ReportReader)
//   launcher thread  starts workers, notices deaths (Launches)
//
// Threads: Start and Stop: one; the other functions: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/cook_owners.h"
#include "director/shell/inbox.h"
#include "director/shell/shared_tables.h"
#include "director/shell/shell_options.h"
#include "director/shell/trace.h"
#include "director/shell/worker_owners.h"
#include "director/shell/world.h"

namespace galley::director {

class DirectorShell final : private Inbox {
 public:
  DirectorShell(ShellOptions options, WorldPtr world, store::Store& store, Journal& journal,
                Trace& trace);
  // Calls Stop.
  ~DirectorShell() override;

  // Called once. UNAVAILABLE: the socket cannot be served.
  absl::Status Start();

  // The present world.
  WorldPtr world() const { return cooks_.worlds.Get(); }
  // Makes a newly scanned world the present world: running cooks go on with it. Waits, and returns
  // the present world, which is the earlier one if nothing differs. Errors: the machine's fault;
  // the world stays the same.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned) {
    return cooks_.worlds.Follow(std::move(scanned));
  }

  // Runs a cook, and waits until the cook is over, which is soon when `stop` is cancelled. `sink`
  // takes the cook's events on the calling thread. REQUIRES: after Start, before Stop; no other
  // cook has the same number.
  absl::StatusOr<ShellOutcome> Cook(CookOrder order, CookEventSink& sink, Cancellation& stop) {
    return cooks_.cooks.Run(std::move(order), sink, stop);
  }
  // Asks for one package on one platform, beside the cooks; Withdraw ends the ask. See PackageAsks.
  absl::StatusOr<uint64_t> Ask(std::string package, std::string platform,
                               PackageAsks::Callback callback) {
    return cooks_.asks.Ask(std::move(package), std::move(platform), std::move(callback));
  }
  // Like Ask, with slots that nothing else wants (PackageAsks::AskAhead).
  absl::StatusOr<uint64_t> AskAhead(std::string package, std::string platform,
                                    PackageAsks::Callback callback) {
    return cooks_.asks.AskAhead(std::move(package), std::move(platform), std::move(callback));
  }
  void Withdraw(uint64_t asker) { cooks_.asks.Withdraw(asker); }
  // Runs tasks for devices, in order, that do not wait behind the roots of a cook. REQUIRES: before
  // Stop.
  Tasks& device_tasks() { return cooks_.device_tasks; }
  // Writes the state from which the next director starts: the snapshot table, the digest cache, the
  // store's state. Cooks may run. Waits.
  absl::Status Remember() { return cooks_.worlds.Remember(); }

  std::vector<WorkerStatus> Workers() const { return tables_.views.All(); }
  // The address where workers of other machines attach; empty: there is none.
  std::string farm_address() const;
  // Lets these workers end when they have no jobs; other workers are started when there is work.
  void Drain(const std::vector<std::string>& workers) { workers_.presence->Drain(workers); }
  // Forgets all results of these packages; running cooks look the packages up again. Waits.
  // NOT_FOUND: a package was in no cook; then nothing is forgotten.
  absl::Status Forget(const std::vector<std::string>& packages);

  // Ends the workers and all threads, and tells all who wait for packages. REQUIRES: no cook runs.
  void Stop();

 private:
  using Message = std::variant<Event, Task>;

  void PostEvent(Event event) override { Post(std::move(event)); }
  void PostTask(Task task) override { Post(std::move(task)); }
  void HandleNow(const Event& event) override;
  void Post(Message message);
  std::vector<Message> TakeInbox(absl::Duration wait);
  absl::Duration LongestWait();
  void Loop();
  void LookAround();
  void CheckFence();
  void WriteFigures();
  void CarryOut(const Effect& effect);

  const ShellOptions options_;
  SystemClock clock_;
  CookCore core_;

  base::Mutex mutex_;
  base::CondVar inbox_changed_;
  std::vector<Message> inbox_ GALLEY_GUARDED_BY(mutex_);
  bool accepting_ GALLEY_GUARDED_BY(mutex_) = true;

  bool has_ended_ = false;  // the thread of the loop has ended

  // Loop thread only.
  bool is_stopping_ = false;
  absl::Time looked_around_ = absl::InfinitePast();
  absl::Time fence_checked_ = absl::InfinitePast();

  // A member may call the members above it on any thread, and the members below it only on the
  // loop thread. So Stop ends the loop first: threads of `cooks_` that still run when `workers_` is
  // destroyed do not use `workers_`.
  SharedTables tables_;
  CookOwners cooks_;
  WorkerOwners workers_;
  std::thread loop_;
};

}  // namespace galley::director
