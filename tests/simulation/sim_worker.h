// SimWorker: a worker's process: the real SessionCore, with a script instead of executors: a job
// gives what World says, and its bytes go to the simulation's disk. Like the real session it ticks
// once a second, flushes its messages soon, and attaches again when its stream breaks.
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
#include "tests/simulation/checks.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/network.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/sim_uploads.h"
#include "tests/simulation/world.h"
#include "worker/session/session_core.h"

namespace galley::simulation {

class SimWorker;

// Machine: all workers run on it. Some of the workers without files share a cache, as if they were
// on two machines.
struct Machine {
  std::array<BlobCache, 2> caches;
  bool is_short = false;                 // short of memory
  int slowness = 1;                      // of its jobs
  const SimWorker* last_slot = nullptr;  // the holder of the last slot, as if by a lock
};

// Surroundings: everything that the workers share.
struct Surroundings {
  Schedule& schedule;
  Random& random;
  Faults& faults;
  Disk& disk;
  World& world;
  std::map<std::string, SnapshotTable>& tables;  // by file name
  std::map<std::string, uint64_t>& cooks;        // begun cooks, by package
  // By the id of the package whose crashes lost them.
  std::map<std::string, uint64_t>& executors_lost;
  Machine& machine;
  Checks& checks;
  std::function<void(const std::string& id)> edit;  // changes a source on the disk
};

class SimWorker {
 public:
  struct Options {
    std::string id;
    std::string machine = "machine";
    uint32_t slots = 1;
    bool is_unfit = false;
    uint64_t memory_bytes = 0;   // that the worker may use; 0: nobody looks
    bool is_remote = false;      // the worker has no files of the director's
    size_t cache = 0;            // for a remote worker: the index in Machine::caches
    bool is_older = false;       // the worker's cooker for programs differs from the director's
    bool is_wrong = false;       // the worker makes other results than the others
    bool hides_uploads = false;  // see ClusterOptions
    record::WorkerOffer offer = {};
  };
  struct Callbacks {
    std::function<void()> connect;             // opens a stream; Connected answers
    std::function<void(v1::FromWorker)> send;  // on the present stream
    std::function<void()> hang_up;             // ends the present stream
    std::function<void()> exited;              // the worker's process ended
    // Calls of a remote worker to its director: asks which blobs the director lacks; stores blobs
    // there; fetches a blob (nullopt: that failed).
    std::function<void(const std::vector<Digest>&, SimUploads::Found)> find_missing;
    std::function<void(const SimUploads::Blobs&, SimUploads::Done)> upload;
    std::function<std::optional<std::string>(const Digest&)> fetch;
  };
  SimWorker(const Options& options, Surroundings& around, Callbacks callbacks);

  // Calls to a process that hangs wait until it goes on.
  void OnConnected();
  void OnDisconnected();
  void OnRefused();
  void OnReceived(const v1::ToWorker& message);
  void OnTick();
  // SIGKILL; SIGSTOP, and perhaps SIGCONT.
  void Kill();
  void Hang();

  bool is_alive() const { return is_alive_; }
  bool is_frozen() const { return is_frozen_; }
  absl::Time thawed_at() const { return thawed_at_; }  // the last time
  uint32_t term() const { return term_; }              // as of the last welcome
  const worker::SessionCore& session() const { return session_; }
  // Attempts that are being cooked now.
  std::vector<uint64_t> running() const;

 private:
  struct Slot {
    std::deque<v1::ExecutorJob> jobs;  // the first job runs
    uint64_t run = 0;  // counts executors and jobs: events of another run are outdated
    bool is_busy = false;
    std::vector<std::string> tables;
  };
  // A job in progress.
  struct Run {
    uint32_t slot = 0;
    uint64_t run = 0;
    v1::ExecutorJob job;
    std::string name;
    std::string source;
    int target = 0;
    bool has_waited = false;  // for the present target
    absl::Duration load_time;
    absl::Duration save_time;  // of the present target
    // The output for the platform before, for a platform that the same run can serve.
    std::string last_text;
    v1::Saved last_saved;
  };
  using RunPtr = std::shared_ptr<Run>;

  void Step(const worker::SessionEvent& event);
  // Passes a slot's event on: at once, or behind its uploads.
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
  void Do(worker::ExitSession&);
  void Exit();
  void Thaw();
  void FlushWhenDue();
  void SampleMemory();
  bool TakesLastSlot();
  uint64_t LargestJob() const;

  void After(absl::Duration delay, Schedule::Act act);
  // Returns a call of `done` in a turn of its own, if the process lives then.
  template <typename Done>
  auto InTurn(const Done& done) {
    return [this, life = std::weak_ptr(life_), done](const auto& what) {
      if (!life.expired()) After(absl::ZeroDuration(), [done, what] { done(what); });
    };
  }
  void Next(uint32_t slot);
  void Load(const RunPtr& run);
  // True: the job cannot be done on this machine, which is the farm's.
  bool Refuses(const RunPtr& run);
  const WorldPackage& LoadedBy(const RunPtr& run) const;
  const std::string& PlatformOf(const RunPtr& run, uint32_t platform) const;
  void Save(const RunPtr& run);
  void SaveAfter(const RunPtr& run, int64_t ms_max);
  // True: the job waits, and Save goes on when it no longer waits.
  bool Waits(const RunPtr& run);
  void GoesOn(const RunPtr& run);
  void TellPending(uint32_t lane, uint64_t attempt, bool is_pending);
  void CheckSlots();
  void CheckMemory();
  // nullopt: the attempt was reported as stale, or needs something.
  std::optional<std::string> ReadInputs(const RunPtr& run, uint32_t platform,
                                        std::vector<record::Observed>& observed);
  bool CanBeCooked(const RunPtr& run);
  bool IsStale(const RunPtr& run, const std::string& file);
  // REQUIRES: the file is not stale.
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
  void Lie(v1::Report& report);

  const Options options_;
  Surroundings& around_;
  const Callbacks callbacks_;
  worker::SessionCore session_;
  SimUploads uploads_;                               // of a remote worker
  std::vector<Slot> slots_;                          // by lane
  std::deque<uint32_t> lanes_waiting_;               // lanes that wait, as the session was told
  std::map<uint64_t, std::set<uint32_t>> left_out_;  // attempt -> platforms
  std::deque<uint64_t> segments_;
  bool is_alive_ = true, is_frozen_ = false;
  absl::Time thawed_at_ = absl::InfinitePast();
  uint32_t term_ = 0;
  bool was_short_ = false;  // of memory, as the session was told last
  absl::Time flushes_at_ = absl::InfiniteFuture();
  std::vector<Schedule::Act> waiting_;  // calls that wait while the process is frozen
  // Lets callbacks that are scheduled for a dead process do nothing.
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

}  // namespace galley::simulation
