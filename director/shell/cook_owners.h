// CookOwners: the owners of all effects on cooks and their results: worlds, look-ups, commits,
// roots, asks, notices. Work that must be in order with commits runs on the commit thread. What
// devices wait for, and the building of whole roots, run on threads of their own beside it.
//
// Threads: the loop's, unless an owner says otherwise.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "absl/time/time.h"
#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/cooks.h"
#include "director/shell/input_repair.h"
#include "director/shell/look_ups.h"
#include "director/shell/notices.h"
#include "director/shell/outgrown_limits.h"
#include "director/shell/own_memory.h"
#include "director/shell/package_asks.h"
#include "director/shell/questions.h"
#include "director/shell/roots.h"
#include "director/shell/shared_tables.h"
#include "director/shell/shell_options.h"
#include "director/shell/task_thread.h"
#include "director/shell/worlds.h"

namespace galley::director {

struct CookOwners {
  // WorkerSide: calls from the owners of cooks to the owners of workers; on the loop.
  struct WorkerSide {
    std::function<void(const World& world)> announce;
    std::function<std::string(const WorkerQuarantined& notice)> quarantine;
    std::function<std::string(const WorkerHeld& notice)> hold;
    std::function<std::string(const WorkerViolated& notice)> end_process;
    // Warns a cook of workers that will not start by themselves.
    std::function<void(ActiveCook& cook)> warn_of_held;
    // Warns a cook of changes that programs may have made.
    std::function<void(ActiveCook& cook)> warn_of_programs;
    std::function<void()> forget_programs;
    std::function<void()> forget_uploads;
  };
  CookOwners(const ShellGround& ground, WorldPtr world, SharedTables& tables, WorkerSide workers,
             std::function<void()> check_fence);
  // Runs the posted tasks, and ends the task threads.
  ~CookOwners();

  // Forgets what attempts that are over have left behind, at most once in kForgetInterval. Called
  // now and then, because there may be asks for months without the end of a cook.
  void ForgetOverIfDue();
  // Waits until the task threads have run all that was posted, and what that posted.
  void DrainTasks();

  // Tells the running cooks a warning without a package. Any thread.
  void Warn(record::WarningKind kind, const std::string& text);

  const ShellGround ground;
  SharedTables& tables;
  const WorkerSide workers;
  TaskThread tasks;  // the commit thread
  // Runs what devices wait for beside the commits: trees of devices, questions to the store.
  TaskThread device_tasks;
  TaskThread root_tasks;  // builds whole roots beside the commits
  ActiveCooks active;
  OutgrownLimits limits;
  Commits commits;
  Worlds worlds;
  Roots roots;
  PackageAsks asks;
  Notices notices;
  Cooks cooks;
  Questions questions;
  InputRepair repair;
  OwnMemory memory;
  LookUps look_ups;  // last, so that its threads end before the members that they use

 private:
  // Workers of an earlier director may bring results for so long (CookOptions::unheard_max).
  static constexpr absl::Duration kForgetInterval = absl::Minutes(10);

  std::function<void(std::span<const StoredResultPtr> results)> RecordKeeper();
  Notices::Deps NoticesDeps();
  Cooks::Deps CooksDeps(std::function<void()> check_fence);
  LookUps::Deps LookUpDeps();
  void BeforeBegin(ActiveCook& cook);
  void AfterClose();
  void ForgetOver();
  void RetryWhatCooksAsk();

  absl::Time forgot_at_ = ground.clock.Monotonic();
};

}  // namespace galley::director
