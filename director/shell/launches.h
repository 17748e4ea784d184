// Launches: the worker processes that the core asked for, on this machine and on others, from the
// order to their end. Launchers start them (director/launch); of those that do not attach it is
// known that they are on their way, and why one will not come by itself.
//
// What becomes of each is told to the core (LauncherReported, WorkerLost), and to people.
//
// Threads: the loop's, but where a function says otherwise; the launchers' own call Deps until the
// object has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "common/record/worker_offer.h"
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

// Under the state folder: WorkerRecords.
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
  // All outlive it.
  struct Deps {
    WorkerService& service;
    TcpDoor* farm_door = nullptr;  // null: no worker of another machine can attach
    AttachedWorkers& workers;
    WorkerViews& views;
    WorkerLogBook& log_book;
    // Any thread:
    std::function<void(Event)> tell_core;
    std::function<void(std::function<void()>)> post;        // has the loop run it, or drops it
    std::function<void()> look_at_disk;                     // a process ended, maybe for its sake
    std::function<void(const std::string& worker)> forget;  // its process has ended
    // On the loop:
    std::function<void(const std::string& reason)> unstarted;  // one that never came
    std::function<void(const std::string& text)> held;         // as LaunchCallbacks::on_held says
  };

  Launches(Options options, Deps deps);

  void Start(const Spawn& order);
  // Ends a worker of which nothing was heard for too long.
  void End(WorkerId worker);
  // Another one takes its place: it is not to come back beside that one, as what a queue runs
  // again. Any thread.
  void EndLaunched(const std::string& worker);
  // It has attached.
  void HasCome(const std::string& worker);

  // Workers of the director before: from now on as if they had been started here. `address`: where
  // its survivors expect us.
  void Adopt(const WorkerRecord& survivor);
  // One that is not wanted any more.
  void EndSurvivor(const std::string& worker);

  // Those of other machines that have not come yet.
  WorkersOnTheWay OnTheWay() const;
  // Why some will not start by themselves, by worker.
  const std::map<std::string, std::string>& held() const { return held_; }

  // Waits until all have ended. Any thread, once no other function is called any more.
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
  std::set<std::string> launching_;          // of other machines: asked for, and did not come yet
  std::map<std::string, std::string> held_;  // of these: why they will not start by themselves

  // Last, so that they end before what their callbacks use.
  std::unique_ptr<Launcher> local_, farm_;  // of this machine; of others, or null
};

}  // namespace galley::director
