// ExecutorSlot: an executor process, kept alive by a thread of its own; jobs go in, events come
// out. The executor has the running job and jobs that were sent ahead. Output between two jobs is
// reported for both.
//
// An executor that crashes, hangs past its job's time, outgrows its job's memory, or speaks
// nonsense is killed and replaced. SlotLost says why and brings the tail of its standard error.
// Between two jobs the executor is asked to give memory back, or replaced in order, as Collection
// says; SlotCollected reports that. SlotPending tells when the programs of a job only wait
// (pending_watch.h). The thread lives as long as the slot, because the child's death signal is tied
// to the thread: when the session dies, so do its executors.
// Threads: methods may be called from any thread and never block for long.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/memory_limit.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/frame.h"
#include "worker/session/blob_sink.h"
#include "worker/session/byte_fetcher.h"
#include "worker/session/collection.h"
#include "worker/session/death.h"
#include "worker/session/event_sink.h"
#include "worker/session/executor_process.h"
#include "worker/session/job_watch.h"
#include "worker/session/order_inbox.h"
#include "worker/session/printed_output.h"
#include "worker/session/received_blobs.h"
#include "worker/session/slot_jobs.h"
#include "worker/session/translate.h"

namespace galley::worker {

class ExecutorSlot {
 public:
  struct Options {
    Teller teller;
    std::string program;  // the path of galley-worker
    BlobSink* sink = nullptr;
    ByteFetcher* fetcher = nullptr;  // null: executors read files in their places
    EventSink* events = nullptr;
    // A spare executor starts only with a job, and ends when it is idle for a while.
    bool is_spare = false;
  };

  explicit ExecutorSlot(Options options);
  // Kills the executor and joins the thread.
  ~ExecutorSlot();

  void Configure(v1::ExecutorSetup setup, const CollectionLimits& collection);
  void Start(v1::ExecutorJob job);
  // Kills the executor if it runs `attempt`, or when `attempt` begins.
  void Stop(uint64_t attempt);
  // Kills the executor if it runs `attempt`; SlotLost says that the machine failed, with `error` as
  // the reason.
  void Fail(uint64_t attempt, std::string error);
  // Strikes the platforms of the part that have not begun from the job.
  void LeaveOut(v1::JobPart part);
  // Resident bytes of the executor and the programs that it started.
  uint64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  // A collection that the executor was asked for and has not answered.
  struct CollectionRequest {
    CollectionStep step;
    uint64_t before_bytes = 0;
    absl::Time deadline;
  };
  // ByteWait: the executor waits for bytes that are fetched.
  struct ByteWait {
    absl::Time since;
    absl::Time since_wall;  // by the wall clock
  };
  // Executor: everything that ends with the present executor.
  struct Executor {
    uint64_t number = 0;     // counts the executors that were started
    uint64_t oom_kills = 0;  // at the start of the executor
    bool is_set_up = false;
    bool is_ready = false;  // the executor has reported that it is ready
    std::optional<CollectionRequest> asked;
    std::optional<ByteWait> waits;
    std::vector<v1::Transfer> transfers;  // of the running job, not reported yet
    // Resident bytes at the last look; nullopt: to be looked at again.
    std::optional<uint64_t> resident_bytes;
    absl::Time resident_seen = absl::InfinitePast();
  };

  void Run();
  void Turn();
  int PollMilliseconds();

  // --- Jobs and collections go in.
  void SendDue();
  void SendAhead();
  absl::Status SendJob(SlotJob& held);
  void BeginJob();
  void GiveBack(const absl::Status& status);
  CollectionStep DueBefore(uint64_t job_bytes);
  bool Collect(CollectionStep step);
  void EndCollection(uint64_t after_bytes);
  void CollectIdle();
  absl::Status EnsureExecutor();
  void WarmUp();
  absl::Status SendToExecutor(const v1::ToExecutor& message);

  // --- Messages and output come out.
  bool ReadSocket();  // true: there may be more
  void TakeFrame(Frame frame);
  void FetchBytes(const v1::ExecutorWant& want);
  void GiveBytes(const v1::ExecutorBytes& bytes);
  void TakeReports(const v1::FromExecutor& message);
  void EndJob(const v1::FromExecutor& message, v1::Report& report);
  void ReadLog();
  void EndOutput();
  void Say(int level, std::string text, bool is_output = false);

  // --- The executor's limits, and its end.
  uint64_t Resident();
  void CheckLimits();
  void TellPending();
  void Blame(KilledFor why);
  void Lose(KilledFor killed_for, std::string detail);
  void Discard();

  const Options options_;
  SystemClock clock_;
  std::atomic<uint64_t> memory_bytes_{0};
  OrderInbox orders_;

  // Used by the slot's thread alone:
  std::optional<v1::ExecutorSetup> setup_;
  ExecutorProcess process_;
  Executor executor_;       // about process_, when it runs
  uint64_t executors_ = 0;  // started so far
  ReceivedBlobs received_;  // for the next report
  SlotJobs jobs_;
  JobWatch watch_;        // of the running job
  PrintedOutput output_;  // since the last end of a job that left the slot idle
  Collection collection_;
  absl::Time idle_seen_ = absl::InfinitePast();  // the IdleAt that was handled last
  MemoryLimits memory_limits_;
  absl::Time memory_seen_ = absl::InfinitePast();
  absl::Time idle_since_ = absl::InfinitePast();  // the last job's end

  std::thread thread_;  // last, because the thread uses the fields above
};

}  // namespace galley::worker
