// CookOwners: the owners of all effects that are of cooks and of their results: worlds, look-ups,
// commits, roots, notices. What must be in order with commits goes to their thread.
//
// Threads: the loop's, but where an owner says otherwise.
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
  // What cooks ask of the side of the workers; called on the loop.
  struct WorkerSide {
    std::function<void(const World& world)> announce;
    std::function<std::string(const WorkerQuarantined& notice)> quarantine;
    std::function<std::string(const WorkerHeld& notice)> hold;
    std::function<std::string(const WorkerViolated& notice)> end_process;
    // Tells a cook what is known of workers that will not come, and what programs may have changed.
    std::function<void(ActiveCook& cook)> warn_of_held;
    std::function<void(ActiveCook& cook)> warn_of_programs;
    std::function<void()> forget_programs;
    std::function<void()> forget_uploads;
  };
  CookOwners(const ShellGround& ground, WorldPtr world, SharedTables& tables, WorkerSide workers,
             std::function<void()> check_fence);
  // Ends the thread of the commits.
  ~CookOwners();

  // People learn of something that is of no package. Any thread.
  void Warn(record::WarningKind kind, const std::string& text);

  const ShellGround ground;
  SharedTables& tables;
  const WorkerSide workers;
  TaskThread tasks;  // of the commits
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
  LookUps look_ups;  // last: its threads end before what they use

 private:
  void BeforeBegin(ActiveCook& cook);
  void AfterClose();
  void RetryWhatCooksAsk();
};

}  // namespace galley::director
