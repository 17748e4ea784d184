// WorkerOwners: the owners of all effects on workers: their processes, doors, messages, jobs and
// bytes.
//
// Threads: the loop's, unless an owner says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "director/serve/farm_door.h"
#include "director/serve/worker_service.h"
#include "director/shell/cook_owners.h"
#include "director/shell/launches.h"
#include "director/shell/program_side_effects.h"
#include "director/shell/shared_tables.h"
#include "director/shell/shell_options.h"
#include "director/shell/streams.h"
#include "director/shell/worker_admission.h"
#include "director/shell/worker_bytes.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_notices.h"
#include "director/shell/worker_presence.h"
#include "director/shell/workers.h"

namespace galley::director {

struct WorkerOwners {
  WorkerOwners(const ShellGround& ground, SharedTables& tables, CookOwners& cooks);

  // Opens the doors, and adopts the workers of an earlier director. Called once, before the loop
  // runs. UNAVAILABLE: the socket cannot be served.
  absl::Status Start();
  // Ends all workers' processes, and waits. Called when the loop no longer runs.
  void EndProcesses() { launches->EndAll(); }
  // Ends the workers' streams, and closes the doors. Called last.
  void CloseDoors();

  const ShellGround ground;
  SharedTables& tables;
  CookOwners& cooks;
  WorkerLogBook log_book;
  WorkerAdmission admission;
  WorkerBytes bytes;
  ProgramSideEffects programs;
  Streams streams;
  WorkerNotices notices;
  Workers workers;
  // Set by Start. The last members, so that they end before the members that their callbacks use.
  std::unique_ptr<WorkerService> service;
  std::unique_ptr<TcpDoor> farm_door;  // null: no worker of another machine can attach
  std::unique_ptr<Launches> launches;
  std::unique_ptr<WorkerPresence> presence;

 private:
  WorkerService::Callbacks Callbacks();
  absl::Status OpenService();
  absl::Status ListenToFarm();
  void MakeLaunches();
  void NoteGiven(const Streams::Given& given);
};

}  // namespace galley::director
