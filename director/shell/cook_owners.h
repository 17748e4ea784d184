// CookOwners: the owners of all effects that concern cooks and their results: worlds, look-ups,
// commits, roots, notices. What must be in order with commits goes to the thread of the commits.
//
// Threads: the loop's, unless an owner says otherwise.
#pragma once

#include <functional>
#include <string>

#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/cooks.h"
#include "director/shell/input_repair.h"
#include "director/shell/look_ups.h"
#include "director/shell/notices.h"
#include "director/shell/outgrown_limits.h"
#include "director/shell/own_memory.h"
#include "director/shell/questions.h"
#include "director/shell/roots.h"
#include "director/shell/shared_tables.h"
#include "director/shell/shell_options.h"
#include "director/shell/task_thread.h"
#include "director/shell/worlds.h"

namespace galley::director {

struct CookOwners {
  // WorkerSide: what cooks ask of the owners of the workers; called on the loop.
  struct WorkerSide {
    std::function<void(const World& world)> announce;
    std::function<std::string(const WorkerQuarantined& notice)> quarantine;
    std::function<std::string(const WorkerHeld& notice)> hold;
    std::function<std::string(const WorkerViolated& notice)> end_process;
    // Tells a cook which workers will not come, and what programs may have changed.
    std::function<void(ActiveCook& cook)> warn_of_held;
    std::function<void(ActiveCook& cook)> warn_of_programs;
    std::function<void()> forget_programs;
    std::function<void()> forget_uploads;
  };
  CookOwners(const ShellGround& ground, WorldPtr world, SharedTables& tables, WorkerSide workers,
             std::function<void()> check_fence);
  // Ends the thread of the commits.
  ~CookOwners();

  // Gives people a warning that concerns no package. Any thread.
  void Warn(record::WarningKind kind, const std::string& text);

  const ShellGround ground;
  SharedTables& tables;
  const WorkerSide workers;
  TaskThread tasks;  // runs the commits
  ActiveCooks active;
  OutgrownLimits limits;
  Commits commits;
  Worlds worlds;
  Roots roots;
  Notices notices;
  Cooks cooks;
  Questions questions;
  InputRepair repair;
  OwnMemory memory;
  LookUps look_ups;  // last: the threads of LookUps end before what they use

 private:
  Notices::Deps NoticesDeps();
  Cooks::Deps CooksDeps(std::function<void()> check_fence);
  LookUps::Deps LookUpDeps();
  void BeforeBegin(ActiveCook& cook);
  void AfterClose();
  void RetryWhatCooksAsk();
};

}  // namespace galley::director
