// Cluster implementation: shared by the files of the simulated cluster; its interface is cluster.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "director/core/cook_core.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_director.h"
#include "tests/simulation/sim_worker.h"

namespace galley::simulation {

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);
  virtual ~Cluster() = default;
  Outcome Run();

 protected:
  // A cluster of several cooks beside each other, which the derived class asks for. It has `faults`
  // alone.
  Cluster(uint64_t seed, const std::vector<Fault>& faults, World world, bool is_told);
  struct Stream {
    size_t body = 0;
    uint64_t director = 0;  // the director's number; 0: none
    Network::LinePtr to_director = std::make_shared<Network::Line>();
    Network::LinePtr to_worker = std::make_shared<Network::Line>();
  };
  // Body: a worker's process.
  struct Body {
    std::unique_ptr<SimWorker> worker;
    std::string name;  // the present director's name for the worker
    uint32_t term = 0;
    uint64_t stream = 0;  // the present stream; 0: none
    absl::Time attached_at = absl::UnixEpoch();
    bool is_remote = false;
    bool is_survivor = false;  // has not attached to the present director yet
  };

  // --- cluster.cc: directors and cooks.
  bool RunNext();
  void DrawLimits();
  void StartDirector();
  virtual void RequestCook();
  std::set<std::string> TakeSurvivors();
  void LoseDirector(bool is_power_cut);
  void CountResumed();
  void EndDirector();
  bool HasEverFired(Fault fault) const { return faults_.counts()[static_cast<size_t>(fault)] > 0; }
  uint64_t TimesSinceRequest(Fault fault) const;
  bool HasFired(Fault fault) const { return TimesSinceRequest(fault) > 0; }
  bool HasLostMuch() const;
  // `published`: the cook's roots, by platform.
  virtual void OnEnded(const director::CookEnded& ended,
                       const std::map<std::string, Digest>& published);
  // Called before the present director dies.
  virtual void OnDirectorDying() {}
  // Called after each step of the present director's core.
  virtual void OnStepped(const director::Event&, std::span<const director::Effect>) {}
  bool EndDisputes();
  void RequestLater();
  void Conclude();

  // --- cluster_faults.cc: the faults that happen to directors and cooks.
  void BeginFaults();
  void CrashDirector();
  void StopDirector();
  void LoseBytes();
  void LoseMoreBytes();
  void LoseMemory();
  void LoseCaches();
  void LetWorkersMeetStale();
  void Change(const std::vector<std::string>& platforms);
  void AskUrgently();
  void AskQuestions();
  void Cancel();
  void Forge(size_t index, v1::FromWorker& message);
  void Edit(const std::string& id);
  void Rename();

  // --- cluster_workers.cc: the workers' processes and streams.
  void Start(const director::Spawn& spawn);
  void Launch(const director::Spawn& spawn);
  bool FailsToStart(director::WorkerId worker, absl::Duration at, Fault fault, uint64_t percent,
                    const std::string& why);
  void StartBody(director::WorkerId worker, absl::Duration at, bool is_remote);
  void AddBody(const std::string& name, uint32_t slots, uint32_t term, bool is_remote);
  void Connect(size_t index);
  bool MeetsStale(const Body& body);
  void BeKnown(Body& body);
  void BreakStream(uint64_t id);
  void Send(uint64_t id, const v1::ToWorker& message);
  void SendUp(size_t index, v1::FromWorker message);
  SimDirector* DirectorOf(const Body& body);
  void FindMissing(size_t index, const std::vector<Digest>& digests,
                   const SimUploads::Found& found);
  void Upload(size_t index, const SimUploads::Blobs& blobs, const SimUploads::Done& done);
  std::optional<std::string> Fetch(size_t index, const Digest& blob);
  void OnExit(size_t index);
  void TellGone(const std::string& name, uint32_t term);
  void StopWorker(director::WorkerId worker);
  void EverySecond();

  // --- cluster_checks.cc: the checks.
  void NoteSettled();
  void CheckSettled();
  void CheckPromises(SimStore& store);
  void CheckHands();
  void CheckStored(const std::map<std::string, std::map<std::string, Digest>>& roots);
  void NoteInstigators(director::PackageId package, std::set<std::string>& lines);
  void CheckRunning(const Body& body);
  std::string Stuck() const;

  const ClusterOptions options_;
  Schedule schedule_;
  Random random_;
  Faults faults_;
  Disk disk_;
  Network network_;
  std::shared_ptr<World> world_;
  Checks checks_;
  director::CookOptions cook_;
  Outcome outcome_;
  std::map<std::string, SnapshotTable> tables_;
  std::map<std::string, uint64_t> cooks_, executors_lost_;
  std::unique_ptr<OwnFaults> own_faults_;
  Machine machine_;
  Surroundings around_{schedule_,
                       random_,
                       faults_,
                       disk_,
                       *world_,
                       tables_,
                       cooks_,
                       executors_lost_,
                       machine_,
                       checks_,
                       [this](const std::string& id) { Edit(id); }};
  std::unique_ptr<SimDirector> director_;
  std::unique_ptr<SimDirector> overtaken_;  // was stopped while another director took the project
  uint64_t directors_ = 0, overtaken_number_ = 0;
  std::set<std::string> held_back_;  // selected packages that are discovered while the cook runs
  std::map<std::string, uint64_t> settled_;  // packages, and how often each had been cooked
  std::vector<Body> bodies_;
  std::map<uint64_t, Stream> streams_;
  uint64_t streams_count_ = 0, forged_ = 0, requests_ = 0;
  uint32_t failures_in_row_ = 0, foreigners_ = 0;
  const bool has_several_ = false;
  FaultCounts faults_at_request_{};
  std::optional<absl::Time> calm_since_;
  bool is_forced_ = false, is_fail_fast_ = false, is_requested_ = false, is_cancelled_ = false;
  bool is_over_ = false, is_done_ = false;
};

}  // namespace galley::simulation
