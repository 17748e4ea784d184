// ExecutorSlot: one executor process, kept alive by a thread of its own; jobs go in, events come
// out. The executor has the job that runs and those that were sent ahead; what was printed between
// two jobs is told of both.
//
// The executor that crashes, hangs past its job's time, outgrows its job's memory, or speaks
// nonsense is killed and replaced; the event SlotLost says why and brings the tail of its standard
// error. Between two jobs it is asked to give memory back, or replaced in order, as Collection
// says; SlotCollected tells of it. SlotPending tells when the programs of a job merely wait
// (pending_watch.h). The thread lives as long as the slot, because the child's death
// signal is tied to it: when the session dies, so do its executors.
// Threads: methods may be called from any thread and never block for long.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/memory_limit.h"
#include "common/base/mutex.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/frame.h"
#include "worker/session/blob_sink.h"
#include "worker/session/byte_fetcher.h"
#include "worker/session/collection.h"
#include "worker/session/death.h"
#include "worker/session/event_sink.h"
#include "worker/session/executor_process.h"
#include "worker/session/job_time.h"
#include "worker/session/pending_watch.h"
#include "worker/session/printed_output.h"
#include "worker/session/received_blobs.h"
#include "worker/session/translate.h"

namespace galley::worker {

class ExecutorSlot {
 public:
  // Sent for one job. (The end of all that it printed is kept with a failure.)
  static constexpr size_t kLogLinesMax = 100;
  static constexpr int kTransfersMax = 16;  // told in one report; the last one covers the rest
  static constexpr absl::Duration kPollPeriod = absl::Milliseconds(100);
  // Between two looks at the memory of the executor's programs.
  static constexpr absl::Duration kProgramsPeriod = absl::Milliseconds(100);
  static constexpr absl::Duration kSpareIdle = absl::Seconds(5);
  // For programs to be ended in order when the time is up.
  static constexpr absl::Duration kEndGrace = absl::Seconds(2);
  static constexpr absl::Duration kCollectMax = absl::Seconds(10);  // longer: it hangs

  struct Options {
    Teller teller;
    std::string program;  // path of galley-worker
    BlobSink* sink = nullptr;
    ByteFetcher* fetcher = nullptr;  // none: executors read files in their places
    EventSink* events = nullptr;
    bool is_spare = false;  // its executor starts with a job only, and ends when idle for a while
  };

  explicit ExecutorSlot(Options options);
  // Kills the executor and joins the thread.
  ~ExecutorSlot();

  void Configure(v1::ExecutorSetup setup, const CollectionLimits& collection);
  void Start(v1::ExecutorJob job);
  // Kills the executor if it runs `attempt`, or when it comes to it.
  void Stop(uint64_t attempt);
  // Likewise, and SlotLost says that the machine failed, and why.
  void Fail(uint64_t attempt, std::string error);
  // Platforms of the job that are not begun are not cooked.
  void LeaveOut(v1::JobPart part);
  // Resident bytes of the executor and the programs that it started.
  uint64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  struct StopOrder {
    uint64_t attempt = 0;
  };
  struct FailOrder {
    uint64_t attempt = 0;
    std::string error;
  };
  struct SetupOrder {
    v1::ExecutorSetup setup;
    CollectionLimits collection;
  };
  // A collection that the executor was asked for and has not answered.
  struct Asked {
    CollectionStep step;
    uint64_t before_bytes = 0;
    absl::Time deadline;
  };
  // What the executor with this number asked for.
  struct BytesOrder {
    uint64_t executor = 0;
    v1::ExecutorBytes bytes;
  };
  using Order =
      std::variant<SetupOrder, v1::ExecutorJob, StopOrder, FailOrder, v1::JobPart, BytesOrder>;

  struct Held {
    v1::ExecutorJob job;
    size_t lines = 0;  // that were printed while it ran
    size_t message_bytes = 0;
    bool was_ahead = false;  // sent while another ran: what that one left in the heap may be seen
    bool is_stopped = false;
  };

  void Run();
  void Push(Order order);
  bool TakeOrders();  // false: the slot ends
  void Apply(SetupOrder order);
  void Apply(v1::ExecutorJob job);
  void Apply(const StopOrder& stop);
  void Apply(const FailOrder& fail);
  void Apply(const v1::JobPart& part);
  void Apply(const BytesOrder& order);
  void SendDue();
  void SendAhead();
  absl::Status SendJob(Held& held);
  CollectionStep DueBefore(uint64_t job_bytes);
  bool Collect(CollectionStep step);
  void EndCollection(uint64_t after_bytes);
  void CollectIdle();
  int PollMilliseconds();
  void BeginFront();
  void ForgetPrograms();
  void GiveBack(const absl::Status& status);
  void TakeReady(const Frame& frame);
  void TakeCollected(const Frame& frame);
  void Turn();
  absl::Status EnsureExecutor();
  absl::Status StartExecutor();
  uint64_t Resident();
  absl::Status SendToExecutor(const v1::ToExecutor& message);
  absl::Status SendMessages(std::span<const std::string> messages);
  bool ReadSocket();  // true: there may be more
  void ReadLog();
  void TakeFrame(Frame frame);
  void FetchFor(const v1::ExecutorWant& want);
  void CheckLimits();
  bool CheckTime(absl::Time now);
  bool HasOutgrown(const v1::Failed& failed) const;
  void WatchPrograms(absl::Time now);
  void TellPending(bool is_pending);
  void EndSpare();
  void Blame(KilledFor why);
  void Lose(KilledFor killed_for, std::string detail);
  void Discard();
  void Emit(SessionEvent event);
  void Say(int level, std::string text, bool is_output = false);
  void EndOutput();
  void NoteFetched(absl::Time since);
  bool is_running() const { return sent_ > 0; }
  uint64_t attempt() const { return is_running() ? jobs_.front().job.job().attempt() : 0; }

  const Options options_;
  SystemClock clock_;
  FileDescriptor wakeup_;  // eventfd
  std::atomic<uint64_t> memory_bytes_{0};

  base::Mutex mutex_;
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::deque<Order> orders_ GALLEY_GUARDED_BY(mutex_);

  // The thread's own.
  std::optional<v1::ExecutorSetup> setup_;
  bool is_set_up_ = false;  // the present executor has it
  ExecutorProcess process_;
  ReceivedBlobs received_;  // for the next report
  std::deque<Held> jobs_;   // the first runs, if it was sent
  size_t sent_ = 0;         // of jobs_, to the present executor
  bool is_ready_ = false;   // the present executor has said so
  Collection collection_;
  std::optional<Asked> asked_;
  uint64_t executors_ = 0;                       // started so far
  std::optional<absl::Time> waits_since_;        // the executor, for bytes that are fetched
  absl::Time waits_since_wall_;                  // likewise, by the wall clock
  std::vector<v1::Transfer> transfers_;          // of the job that runs, not told yet
  absl::Time idle_seen_ = absl::InfinitePast();  // Collection::IdleAt for which it was looked at
  MemoryLimits memory_limits_;
  uint64_t oom_kills_ = 0;       // when the present executor was started
  PrintedOutput output_;         // since the last end of a job after which none ran
  uint64_t programs_bytes_ = 0;  // of the present job, when last looked at
  absl::Time programs_seen_ = absl::InfinitePast();
  absl::Time memory_seen_ = absl::InfinitePast();
  std::optional<uint64_t> resident_bytes_;  // when last looked at; of an idle one, all that it has
  absl::Time resident_seen_ = absl::InfinitePast();
  PendingWatch pending_;
  JobTime time_;                                   // of the job that runs
  absl::Time killed_at_ = absl::InfiniteFuture();  // its time is up, and it was told so
  absl::Time idle_since_ = absl::InfinitePast();   // the last job's end

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace galley::worker
