// WorkerOwners: the owners of all effects that are of workers: their processes, doors, messages,
// jobs and bytes.
//
// Threads: the loop's, but where an owner says otherwise.
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

  // Opens the doors, and adopts what a director before left. Once. UNAVAILABLE: the socket cannot
  // be served. Before the loop runs.
  absl::Status Start();
  // Waits until all processes have ended. When the loop runs no more.
  void EndProcesses() { launches->EndAll(); }
  // When nobody answers workers any more.
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
  // From Start on. Last, so that they end before what their callbacks use.
  std::unique_ptr<WorkerService> service;
  std::unique_ptr<TcpDoor> farm_door;  // null: nobody is let in who was not started here
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
