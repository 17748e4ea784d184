// HeldJobs: the jobs that a session has in hand, from when the director gives them until their end
// is reported.
//
// Jobs begin by urgency, then in the order in which they came (job_queue.h), on the lowest free
// lane (lanes.h). A job overtakes jobs that do not fit into memory beside a pending job. While the
// machine is short of memory, no job begins, except on one slot of one session. While a disk to
// which jobs write is full, no job begins, and queued jobs fail with NO_ROOM. Every attempt that
// the worker took ends with exactly one Ended, whatever was reported before.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "galley/v1/worker.pb.h"
#include "worker/session/governor.h"
#include "worker/session/job_queue.h"
#include "worker/session/lanes.h"
#include "worker/session/report_outbox.h"
#include "worker/session/session_events.h"

namespace galley::worker {

inline constexpr size_t kJobsMax = 4'096;        // further jobs fail at once
inline constexpr uint32_t kBlockingUrgency = 4;  // a device asks for it, or a cook of class now
// Above this number no job is started until the director has caught up.
inline constexpr size_t kReportsKeptMax = 16'384;
inline constexpr uint64_t kMemoryBytesDefault = 4ull << 30;
inline constexpr absl::Duration kTimeoutDefault = absl::Minutes(10);

class HeldJobs {
 public:
  // `reports` outlives the HeldJobs.
  HeldJobs(uint32_t slots, bool is_without_files, ReportOutbox& reports)
      : is_without_files_(is_without_files),
        reports_(reports),
        queue_(slots, is_without_files),
        lanes_(slots) {}

  // --- From the director.
  void ForgetSnapshots() { snapshots_.clear(); }  // another director numbers anew
  void AddSnapshot(const v1::Snapshot& snapshot);
  void KeepNewestSnapshot();
  void TakeJob(v1::Job given);
  void CancelJob(uint64_t attempt, SessionEffects& effects);
  // False: the job has begun, or is not in hand.
  bool RetractJob(uint64_t attempt);
  void RetractPart(const v1::JobPart& part, SessionEffects& effects);
  // Ends all jobs.
  void DropJobs();

  // --- From the lanes.
  void TakeReport(SlotReported& event);
  void LoseJob(const SlotLost& event);
  // Queues the attempts again, and ends cancelled attempts. True: starts fail too often, and no
  // executor runs a job.
  bool PutJobsBack(const SlotFailed& event);
  void FreeSlot(const SlotFreed& event);
  void SetPending(const SlotPending& event);

  void Tick();
  void FetchJobsAhead(SessionEffects& effects);
  // `disk_lack`: why no job may begin; empty: there is room on the disks.
  void BeginJobs(const v1::Welcome& welcome, const Governor& governor, const std::string& disk_lack,
                 SessionEffects& effects);

  // News for the director: which jobs are pending, and which have left their slots.
  bool HasPendingNews() const { return is_pending_due_; }
  bool HasSlotNews() const { return !left_slots_.empty(); }
  // `all`: with news that the director may know already.
  void AddNews(bool all, v1::FromWorker& message);
  uint64_t CheckSum() const;

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  // The time that the jobs in the queue are expected to take, one after the other.
  absl::Duration queued() const { return queue_.expected(); }

 private:
  struct HeldJob {
    v1::Job job;
    // Null: the director did not send this snapshot.
    std::shared_ptr<const v1::Snapshot> snapshot;
    std::optional<uint32_t> slot;  // the slot where it runs, is about to run, or ran (SlotFreed)
    std::set<uint32_t> platforms_left;
    bool is_cancelled = false;
    bool is_uploading = false;  // see SlotFreed
  };

  HeldJob* FindOnSlot(uint32_t slot, uint64_t attempt);
  void BeginJob(uint32_t slot, PlannedJob planned, const v1::Welcome& welcome,
                const Governor& governor, SessionEffects& effects);
  static void AddAhead(const v1::Job& job, FetchAhead& ahead);
  void SetWaiting(uint64_t attempt, bool is_waiting);
  bool IsHeldUp() const { return !queue_.empty() && lanes_.HasFreeSlot(); }
  void AddPending(v1::FromWorker& message);
  // Reports the failure for the remaining platforms.
  void FailJob(HeldJob& held, v1::Failed failed, const v1::JobBytes& bytes = {});
  void EndJob(HeldJob& held, bool is_pressing = false);
  void AddReport(const HeldJob& held, v1::Report report, bool is_pressing = false);

  const bool is_without_files_;
  ReportOutbox& reports_;
  std::map<uint64_t, std::shared_ptr<const v1::Snapshot>> snapshots_;  // by number
  std::map<uint64_t, HeldJob> jobs_;                                   // by attempt
  JobQueue queue_;                                                     // jobs that have not begun
  Lanes lanes_;
  int start_failures_ = 0;       // of executors, in a row
  bool waits_to_start_ = false;  // until the next tick
  bool is_pending_due_ = false;
  bool has_told_pending_ = false;     // jobs are pending, or held up
  std::vector<uint64_t> left_slots_;  // attempts that were not reported yet
};

}  // namespace galley::worker
