// SimWorker: a worker's process: the real SessionCore, and in place of executors a script: what a
// job gives is what World says, its bytes go to the simulation's disk. Like the real session it
// ticks once a second, flushes its messages soon, and attaches again when its stream breaks.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/record/observation.h"
#include "common/store/interface/store.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/network.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/sim_uploads.h"
#include "tests/simulation/world.h"
#include "worker/session/session_core.h"

namespace galley::simulation {

class SimWorker;

// Machine: all workers run on it. (Of those without files some share a cache, as if they were on
// two machines.)
struct Machine {
  std::array<BlobCache, 2> caches;
  bool is_short = false;                 // of memory
  int slowness = 1;                      // of its jobs
  const SimWorker* last_slot = nullptr;  // whose it is, as if by a lock
};

// Surroundings: everything that the workers share.
struct Surroundings {
  Schedule& schedule;
  Random& random;
  Faults& faults;
  Disk& disk;
  World& world;
  std::map<std::string, SnapshotTable>& tables;     // by file name
  std::map<std::string, uint64_t>& cooks;           // begun, by package
  std::map<std::string, uint64_t>& executors_lost;  // by its own crashes, by a package's id
  Machine& machine;
  std::function<void(const std::string& id)> edit;      // a source changes on the disk
  std::function<void(const std::string& what)> broken;  // that must hold
  std::function<void(const Digest& output)> made_wrong;
};

class SimWorker {
 public:
  struct Options {
    std::string id;
    std::string machine = "machine";
    uint32_t slots = 1;
    bool is_unfit = false;
    uint64_t memory_bytes = 0;   // that it may use; 0: nobody looks
    bool is_remote = false;      // it is without the director's files
    size_t cache = 0;            // of a remote one: which of Machine::caches it shares
    bool is_older = false;       // it has the cooker of programs otherwise than the director
    bool is_wrong = false;       // it makes something else than others
    bool hides_uploads = false;  // ClusterOptions
    record::WorkerOffer offer = {};
  };
  struct Callbacks {
    std::function<void()> connect;             // open a stream; answered by Connected
    std::function<void(v1::FromWorker)> send;  // on the present stream
    std::function<void()> hang_up;             // ends the present stream
    std::function<void(int code)> exited;      // its process ended
    // Of a remote worker, to the director that it is attached to: it is asked what blobs it lacks;
    // blobs are stored there; a blob is fetched, nullopt: that failed.
    std::function<void(const std::vector<Digest>&, SimUploads::Found)> find_missing;
    std::function<void(const SimUploads::Blobs&, SimUploads::Done)> upload;
    std::function<std::optional<std::string>(const Digest&)> fetch;
  };
  SimWorker(const Options& options, Surroundings& around, Callbacks callbacks);

  // Calls on a process that hangs wait until it goes on.
  void OnConnected();
  void OnDisconnected();
  void OnRefused();
  void OnReceived(const v1::ToWorker& message);
  void OnTick();
  // SIGKILL, SIGSTOP, SIGCONT.
  void Kill();
  void Freeze();
  void Hang();
  void Thaw();

  bool is_alive() const { return is_alive_; }
  bool is_frozen() const { return is_frozen_; }
  absl::Time thawed_at() const { return thawed_at_; }  // last
  const std::string& id() const { return options_.id; }
  uint32_t term() const { return term_; }  // of the last welcome
  const worker::SessionCore& session() const { return session_; }
  // Attempts that are being cooked now.
  std::vector<uint64_t> running() const;

 private:
  struct Slot {
    std::deque<v1::ExecutorJob> jobs;  // the first runs
    uint64_t run = 0;                  // of executors and jobs: what is of another is over
    bool is_busy = false;
    std::vector<std::string> tables;
  };
  // One job as it goes on.
  struct Run {
    uint32_t slot = 0;
    uint64_t run = 0;
    v1::ExecutorJob job;
    std::string name;
    std::string source;
    int target = 0;
    bool has_waited = false;  // for this target
    // The output of the platform before, for a platform that can be served by it.
    std::string last_text;
    v1::Saved last_saved;
  };
  using RunPtr = std::shared_ptr<Run>;

  void Step(const worker::SessionEvent& event);
  // What a slot tells: at once, or behind its uploads.
  void Pass(const worker::SessionEvent& event);
  void EndJob(const worker::UploadQueue::Delivery::End& end);
  void Do(worker::ConfigureSlots& configure);
  void Do(worker::FetchAhead&) {}
  void Do(worker::StartJob& start);
  void Do(worker::StopJob& stop);
  void Do(worker::LeaveOut& leave_out);
  void Do(worker::GiveSegments& give);
  void Do(worker::SendMessage& send);
  void Do(worker::HangUp&);
  void Do(worker::ExitSession& exit);
  void FlushWhenDue();
  void SampleMemory();
  bool TakesLastSlot();
  uint64_t LargestJob() const;

  void After(absl::Duration delay, Schedule::Act act);
  void Next(uint32_t slot);
  void Load(const RunPtr& run);
  // True: it cannot be done on this machine, which is the farm's.
  bool Refuses(const RunPtr& run);
  const WorldPackage& LoadedBy(const RunPtr& run) const;
  const std::string& PlatformOf(const RunPtr& run, uint32_t platform) const;
  void Save(const RunPtr& run);
  // True: the job waits, and Save goes on when it does not wait any more.
  bool Waits(const RunPtr& run);
  void GoesOn(const RunPtr& run);
  void TellPending(uint32_t lane, uint64_t attempt, bool is_pending);
  void CheckSlots();
  void CheckMemory();
  // Nothing when the attempt was told to be stale, or wants something.
  std::optional<std::string> ReadInputs(const RunPtr& run, uint32_t platform,
                                        std::vector<record::Observed>& observed);
  bool CanBeCooked(const RunPtr& run);
  bool IsStale(const RunPtr& run, const std::string& file);
  // REQUIRES: it is not stale.
  std::optional<std::string> BytesOf(const RunPtr& run, const std::string& file) const;
  bool HasToday(const std::string& bytes_in_table, const std::string& file);
  BlobCache& cache() { return around_.machine.caches[options_.cache]; }
  std::optional<std::string> ReadBlobOf(const v1::Job& job, const Digest& digest);
  v1::BlobWritten Store(const std::string& bytes);
  void Tell(const RunPtr& run, v1::Report report);
  void Fail(const RunPtr& run, v1::Failed::Cause cause, const std::string& error);
  static std::optional<v1::Opened> OpenedBy(const RunPtr& run, v1::Failed::Cause cause);
  void LoseExecutor(const RunPtr& run, v1::Failed::Cause cause, const std::string& error);
  void Finish(const RunPtr& run);
  void TakeDown(const RunPtr& run, const WorldPackage& package);
  bool IsOver(const RunPtr& run) const;
  absl::Duration Duration(int64_t ms_max);
  void Lie(const RunPtr& run, v1::Report& report);

  const Options options_;
  Surroundings& around_;
  const Callbacks callbacks_;
  worker::SessionCore session_;
  SimUploads uploads_;                               // of a remote one
  std::vector<Slot> slots_;                          // lanes
  std::deque<uint32_t> lanes_waiting_;               // of them, as the session was told
  std::map<uint64_t, std::set<uint32_t>> left_out_;  // platforms, by attempt
  std::deque<uint64_t> segments_;
  bool is_alive_ = true, is_frozen_ = false;
  absl::Time thawed_at_ = absl::InfinitePast();
  uint32_t term_ = 0;
  bool was_short_ = false;  // of memory, as its session was told
  absl::Time flushes_at_ = absl::InfiniteFuture();
  std::vector<Schedule::Act> waiting_;  // while frozen
  // Callbacks that are scheduled for a process that is gone do nothing.
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

}  // namespace galley::simulation
