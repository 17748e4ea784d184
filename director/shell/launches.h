// Launches: starts and ends the workers that the core asks for, on this machine and on others,
// through launchers (director/launch). Launches knows which workers have not attached yet, and why
// a worker will not start by itself. It tells the core (LauncherReported, WorkerLost) and people
// about each worker.
//
// Threads: the loop's, unless a function says otherwise. The launchers' threads call Deps until
// Launches is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/packages/monitor.h"
#include "director/launch/farm_launcher.h"
#include "director/launch/process_launcher.h"
#include "director/serve/tcp_door.h"
#include "director/serve/worker_service.h"
#include "director/shell/attached_workers.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"

namespace galley::director {

// Folder of the WorkerRecords, under the state folder.
inline constexpr const char* kWorkersFolder = "workers";

inline constexpr absl::Duration kStopGrace = absl::Seconds(2);  // of workers

class Launches {
 public:
  struct Options {
    std::string worker_program;
    std::string state_directory;
    uint32_t slots = 1;
    record::WorkerOffer local_offer, farm_offer;
    FarmLaunch farm;
  };
  // Everything in Deps outlives Launches.
  struct Deps {
    WorkerService& service;
    TcpDoor* farm_door = nullptr;  // null: no worker of another machine can attach
    AttachedWorkers& workers;
    WorkerViews& views;
    WorkerLogBook& log_book;
    // Any thread:
    std::function<void(Event)> tell_core;
    std::function<void(std::function<void()>)> post;  // runs on the loop, or is dropped
    std::function<void()> look_at_disk;  // a process ended, maybe because of a full disk
    std::function<void(const std::string& worker)> forget;  // the worker's process has ended
    // On the loop:
    std::function<void(const std::string& reason)> unstarted;  // a worker never attached
    std::function<void(const std::string& text)> held;         // text of LaunchCallbacks::on_held
  };

  Launches(Options options, Deps deps);

  void Start(const Spawn& order);
  // Ends a worker that was silent for too long.
  void End(WorkerId worker);
  // Ends a launched worker that is lost or has said goodbye, so that a queue does not run it again.
  // Ignores other workers. Any thread.
  void EndLaunched(const std::string& worker);
  // Notes that the worker has attached.
  void NoteAttached(const std::string& worker);

  // Adopts a worker of the previous director, which then counts as started here.
  void Adopt(const WorkerRecord& survivor);
  // Ends an adopted worker that is not needed.
  void EndSurvivor(const std::string& worker);

  // Counts the workers of other machines that have not attached yet.
  WorkersOnTheWay OnTheWay() const;
  // The workers that will not start by themselves, with the reasons.
  const std::map<std::string, std::string>& held() const { return held_; }

  // Ends all workers, and waits. Any thread, when no other function is called any more.
  void EndAll();

 private:
  void StartLocal(const std::string& name, absl::Duration delay);
  void StartOnFarm(WorkerId worker, const std::string& name, absl::Duration delay);
  std::unique_ptr<Launcher> MakeFarmLauncher();
  void OnExit(const WorkerExit& exit);
  void NoteUnstarted(const WorkerExit& exit);
  void OnState(const std::string& worker, LaunchState state, const std::string& where);
  void OnHeld(const std::string& worker, const std::string& text);
  std::string LogFileOf(const std::string& worker) const;

  const Options options_;
  const Deps deps_;
  // Workers of other machines that were asked for and have not attached.
  std::set<std::string> launching_;
  // Workers of other machines that will not start by themselves, and why.
  std::map<std::string, std::string> held_;

  // The launchers are last, so that they end before the members that their callbacks use.
  std::unique_ptr<Launcher> local_, farm_;  // of this machine; of others, or null
};

}  // namespace galley::director
