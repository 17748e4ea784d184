// SessionCore: what a worker session knows and decides: which job goes to which executor, what is
// reported, when the session ends.
//
// Pure: no thread, socket, file or clock; equal events give equal effects. The shell
// (session_shell.h) turns the stream, the executor slots and signals into Events and carries the
// Effects out in order; it calls Flush when NextFlush says so, for the messages to send.
//
// Jobs start by urgency, then in the order in which they came, on the lowest free lane. A lane is
// an executor; there are twice as many as slots, because a job that is pending (its programs wait,
// pending_watch.h) leaves its slot to another: at most `slots` jobs run and at most `slots` are
// pending. Of more that wait, those that waited first are pending. One that goes on has no slot to
// ask for: until it or another has ended no job begins. What a pending job takes stays taken: one
// begins beside it only where what all executors may need fits into the memory that the director
// was told, and overtakes those that do not fit. The only slot of a session gets its next
// jobs ahead while they are short, so that its executor need not wait for us between them; but
// nothing behind a job that starts programs, which could not be had back. A session without files
// has what jobs read fetched ahead, but only for those that begin soon: the director may give the
// others to another worker, which would fetch all of it once more. Reports are numbered from
// 1 without holes over the session's life and kept until the director persisted them; after a new
// Attach all that are kept are sent again. Every attempt that came into the worker's hands leaves
// them with one Ended, whatever was reported before; but a session that can start no executor says
// that it is unfit, and ends. While too little memory is left on the machine no job begins, but for
// one slot of one session. While too little is free on a disk to which jobs write, none begins:
// each is given back with that reason. Lines of the log are no news: they travel with the next
// message, behind its reports; the newest are kept while there is no director.
//
// Directors come and go: while there is none, what is in hand goes on, for `reconnect_max`. The
// next one has a higher term and hears of it all; one with a lower term than was seen is stale, and
// nothing that it says is done.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "galley/v1/executor.pb.h"
#include "galley/v1/worker.pb.h"
#include "google/protobuf/repeated_field.h"
#include "worker/session/collection.h"
#include "worker/session/governor.h"
#include "worker/session/log_ring.h"

namespace galley::worker {

inline constexpr absl::Duration kReconnectMax = absl::Seconds(20);

struct SessionOptions {
  std::string worker_id;
  std::string token;
  std::string machine;
  std::string runs_as = "";  // v1::Hello
  std::string cookers_json;
  std::string walls_missing = {};  // v1::Hello
  uint32_t slots = 1;
  int64_t pid = 0;
  uint64_t session = 0;           // names the process
  bool is_without_files = false;  // v1::Hello
  record::WorkerOffer offer;      // likewise
  // Without a director's welcome, at the beginning and later: the session ends.
  absl::Duration first_contact_max = kReconnectMax;
  absl::Duration reconnect_max = kReconnectMax;
};

// How a session ends (CONTRACT.md): no more work; refused, or fit for nothing; what it had in hand
// is for another one, which is to be started.
inline constexpr int kExitDone = 0, kExitUnfit = 3, kExitDrained = 75;
inline constexpr uint32_t kSlotsMax = 1'024;
inline constexpr size_t kJobsMax = 4'096;  // in hand; more are failed at once
// Above this no job is started until the director has caught up.
inline constexpr size_t kReportsKeptMax = 16'384;
inline constexpr size_t kReportsInMessageMax = 256;
inline constexpr size_t kReportBytesInMessageMax = 1 << 20;
// So much of the log goes to the director between two ticks.
inline constexpr size_t kLogBytesInTick = 64 << 10;
inline constexpr absl::Duration kNewsWaitMax = absl::Milliseconds(200);
// Most uploads are over sooner, and the reports behind them tell that a slot went on.
inline constexpr absl::Duration kUploadingWait = absl::Milliseconds(10);
// What jobs read is fetched ahead while the queued jobs for which it is, or was, are fewer than the
// slots, or expected to take less than so long for each slot; as a rule for half of that at once.
inline constexpr absl::Duration kFetchAheadMax = absl::Milliseconds(400);
inline constexpr uint64_t kMemoryBytesDefault = 4ull << 30;
inline constexpr absl::Duration kTimeoutDefault = absl::Minutes(10);

// --- Events.
struct Connected {};  // a new stream: nothing was sent on it yet
struct Disconnected {};
struct Refused {  // the director does not want this worker
  std::string reason;
};
struct Received {
  v1::ToWorker message;
};
// From the slot's executor about the attempt that it runs. failed, needs, stale and ended end the
// job there; no number yet.
struct SlotReported {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  v1::Report report;
};
// The executor was lost while it ran the attempt; the slot is ready for another.
struct SlotLost {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  v1::Failed::Cause cause = v1::Failed::CAUSE_UNKNOWN;
  std::string error;
  std::string log_tail;
  std::optional<v1::Opened> opened = {};  // for Failed
  bool is_loaded = false;                 // likewise
  bool was_killed = false;                // likewise
};
// No executor could be started: these attempts, in the slot's order, are as they were.
struct SlotFailed {
  uint32_t slot = 0;
  std::vector<uint64_t> attempts;
  std::string error;
};
// The slot is done with the attempt and ready for another; what it reported of it comes later, when
// its blobs are uploaded.
struct SlotFreed {
  uint32_t slot = 0;
  uint64_t attempt = 0;
};
// The programs of the attempt, which the slot runs, merely wait; or they do not any more.
struct SlotPending {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  bool is_pending = false;
};
// The slot's executor gave memory back between two jobs, or was replaced for it.
struct SlotCollected {
  uint32_t slot = 0;
  CollectionStep step;
  uint64_t before_bytes = 0;  // resident
  uint64_t after_bytes = 0;
};
struct Logged {
  v1::LogLine line;
};
// None of the segments that the director gave can be written to.
struct SegmentUnusable {
  std::string reason;
};
struct TerminateAsked {};  // SIGTERM, or the input ended
struct Tick {
  uint64_t memory_bytes = 0;  // resident, session and executors
};
// At a period, and before the first Connected.
struct MemorySampled {
  MemoryRoom room;
  uint64_t executor_bytes = 0;  // of the largest
  bool holds_last_slot = false;
};
// The disks to which jobs write, looked at; empty: there is room on all of them.
struct DiskSampled {
  std::string lack;
};
using SessionEvent =
    std::variant<Connected, Disconnected, Refused, Received, SlotReported, SlotLost, SlotFailed,
                 SlotFreed, SlotPending, SlotCollected, Logged, SegmentUnusable, TerminateAsked,
                 Tick, MemorySampled, DiskSampled>;

// --- Effects.
struct ConfigureSlots {
  v1::Welcome welcome;
  CollectionLimits collection;
};
struct StartJob {
  uint32_t slot = 0;
  v1::ExecutorJob job;
};
// Kill the executor if it still runs this attempt; answered by SlotLost or the job's own end.
struct StopJob {
  uint32_t slot = 0;
  uint64_t attempt = 0;
};
struct LeaveOut {  // what is not begun of the slot's job is not cooked there; not answered
  uint32_t slot = 0;
  v1::JobPart part;
};
struct FetchAhead {  // jobs that begin soon, in this order; their attempts, and what they read
  google::protobuf::RepeatedPtrField<v1::Job> jobs;
};
struct GiveSegments {
  std::vector<uint64_t> segments;
};
struct SendMessage {
  v1::FromWorker message;
};
// Messages of this stream were lost, or it gave what is of no use: it is broken, and a new one
// begins with the whole state.
struct HangUp {
  std::string reason;
};
struct ExitSession {
  int code = 0;
  std::string reason;
  bool said_goodbye = false;  // to a director that is to read it
};
using SessionEffect = std::variant<ConfigureSlots, FetchAhead, StartJob, StopJob, LeaveOut,
                                   GiveSegments, SendMessage, HangUp, ExitSession>;

// The job without these platforms.
void StrikeTargets(const v1::JobPart& part, v1::Job& job);

class SessionCore {
 public:
  explicit SessionCore(SessionOptions options);

  // Applies one event and appends what the shell must do. REQUIRES: now never goes back.
  void Step(absl::Time now, SessionEvent event, std::vector<SessionEffect>& effects);
  // When Flush is due: InfinitePast: now; InfiniteFuture: there is nothing to say. What nobody
  // waits for is told later and together: at most kNewsWaitMax after it happened, and before a
  // quarter of the work that waits here is done, so that the director's next jobs come in time.
  absl::Time NextFlush() const;
  // Appends the messages that are due, and the end of the session once all is said.
  void Flush(std::vector<SessionEffect>& effects);

  // There is work, and too little memory: one session of the machine may work on with one slot.
  bool WantsLastSlot() const { return governor_.is_short() && !attempts_.empty(); }

  // So long no director has welcomed it; zero: one has.
  absl::Duration AloneFor() const {
    return alone_since_.has_value() ? now_ - *alone_since_ : absl::ZeroDuration();
  }

  // In events and effects a `slot` is a lane.
  static uint32_t LanesFor(uint32_t slots) { return 2 * slots; }
  size_t in_hand() const { return attempts_.size(); }
  size_t reports_kept() const { return reports_.size(); }

 private:
  struct Attempt {
    v1::Job job;
    std::shared_ptr<const v1::Snapshot> snapshot;  // null: the director did not say which one it is
    bool starts_programs = false;
    std::optional<uint32_t> slot;  // where it runs, or is about to, or ran (SlotFreed)
    std::set<uint32_t> platforms_left;
    bool is_cancelled = false;
    bool is_uploading = false;  // SlotFreed
    bool is_ahead = false;      // FetchAhead
    uint64_t began = 0;         // after this sample of memory
  };

  void Apply(const Connected&, std::vector<SessionEffect>&);
  void Apply(const Disconnected&, std::vector<SessionEffect>&);
  void Apply(const Refused& event, std::vector<SessionEffect>& effects);
  // (What these bring is kept.)
  void Apply(Received& event, std::vector<SessionEffect>& effects);
  void Apply(SlotReported& event, std::vector<SessionEffect>& effects);
  void Apply(const SlotLost& event, std::vector<SessionEffect>& effects);
  void Apply(const SlotFailed& event, std::vector<SessionEffect>&);
  void Apply(const SlotFreed& event, std::vector<SessionEffect>&);
  void Apply(const SlotPending& event, std::vector<SessionEffect>&);
  void Apply(const Logged& event, std::vector<SessionEffect>&);
  void Apply(const SegmentUnusable& event, std::vector<SessionEffect>& effects);
  void Apply(const TerminateAsked&, std::vector<SessionEffect>&);
  void Apply(const Tick& event, std::vector<SessionEffect>& effects);
  void Apply(const SlotCollected& event, std::vector<SessionEffect>&);
  void Apply(const MemorySampled& event, std::vector<SessionEffect>&);
  void Apply(const DiskSampled& event, std::vector<SessionEffect>&);

  CollectionLimits ExecutorLimits() const;
  void TakeJob(v1::Job given);
  void PutInQueue(std::deque<uint64_t>::const_iterator before, uint64_t attempt);
  bool TakeFromQueue(uint64_t attempt);
  bool Retract(uint64_t attempt);
  void RetractPart(const v1::JobPart& part, std::vector<SessionEffect>& effects);
  void Cancel(uint64_t attempt, std::vector<SessionEffect>& effects);
  void DropAll();
  void StartJobs(std::vector<SessionEffect>& effects);
  void GiveBackForRoom();
  bool IsAheadBelow(absl::Duration limit) const;
  void FetchSome(std::vector<SessionEffect>& effects);
  static void AddAhead(const v1::Job& job, FetchAhead& ahead);
  bool IsRunning() const;
  bool IsPending(uint64_t attempt) const;
  bool HoldsSlot(uint32_t lane) const;
  uint32_t SlotsHeld() const;
  bool IsHeldUp() const;
  void AddPending(v1::FromWorker& message);
  void AddUploading(bool all, v1::FromWorker& message);
  void AddLog(v1::FromWorker& message);
  void GoesOn(uint64_t attempt);
  bool IsPaused() const;
  uint64_t YoungJobs() const;
  uint64_t MemoryOf(uint64_t attempt) const;
  bool FitsBesidePending(uint32_t lane, uint64_t attempt) const;
  void Say(int level, std::string text);
  std::optional<uint32_t> LaneFor(uint64_t attempt) const;
  int64_t ExpectedUs(uint64_t attempt) const;
  void StartOn(uint32_t slot, uint64_t attempt, std::vector<SessionEffect>& effects);
  void ReportFailed(uint64_t attempt, v1::Failed failed, const v1::JobBytes& bytes = {});
  void End(uint64_t attempt);
  void AddReport(uint64_t attempt, v1::Report report);
  uint64_t Check() const;
  bool HasMessage() const;
  bool HasNews() const;
  bool IsPressing(uint64_t attempt, const v1::Report& report) const;
  bool HasReports() const { return reports_.upper_bound(sent_report_) != reports_.end(); }
  absl::Duration NewsWait() const;
  bool IsDrained() const;
  bool MayEnd() const;
  v1::FromWorker NextMessage();

  const SessionOptions options_;
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> alone_since_;  // no welcome

  bool is_connected_ = false;
  bool is_draining_ = false;
  bool wants_another_ = false;  // started in place of it, when it drained
  bool is_ending_ = false;      // goodbye with the next flush
  bool is_terminated_ = false;
  bool has_ended_ = false;
  std::string end_reason_;
  std::optional<v1::Welcome> welcome_;
  uint32_t term_ = 0;  // the highest seen
  // Of the present director, by number.
  std::map<uint64_t, std::shared_ptr<const v1::Snapshot>> snapshots_;
  std::map<uint64_t, Attempt> attempts_;  // all in hand
  std::deque<uint64_t> queue_;            // not begun
  int64_t queued_us_ = 0;                 // that these are expected to take
  // Of these, in a session without files: those that were fetched ahead, and the others, as
  // (~urgency, attempt).
  size_t ahead_ = 0;
  int64_t ahead_us_ = 0;
  std::set<std::pair<uint32_t, uint64_t>> not_ahead_;
  std::vector<std::deque<uint64_t>> lanes_;  // attempts, the first runs
  std::deque<uint64_t> waiting_;             // of these; the first `slots` of them are pending
  std::map<uint64_t, v1::Report> reports_;   // not persisted
  std::set<uint64_t> ended_;                 // attempts whose Ended is among reports_
  uint64_t next_report_ = 1;
  LogRing log_;
  size_t log_bytes_left_ = kLogBytesInTick;  // until the next tick
  int start_failures_ = 0;                   // of executors, in a row
  bool waits_to_start_ = false;              // until the next tick
  std::string unfit_;
  uint64_t memory_bytes_ = 0;
  Governor governor_;
  bool holds_last_slot_ = false;
  std::string disk_lack_;   // DiskSampled
  bool limit_due_ = false;  // to be told
  v1::Collections collections_;
  bool collections_due_ = false;
  bool pending_due_ = false;
  bool has_told_pending_ = false;     // that some are, or that jobs are held up
  std::vector<uint64_t> left_slots_;  // attempts: not told yet

  // Numbers on the present stream.
  uint64_t sent_sequence_ = 0;
  uint64_t applied_sequence_ = 0;
  uint64_t sent_report_ = 0;  // the last report sent
  bool hello_due_ = false;
  bool in_hand_due_ = false;
  bool message_due_ = false;
  std::optional<absl::Time> news_since_;  // not told yet
  bool is_pressed_ = false;               // somebody waits for one of the reports
};

}  // namespace galley::worker
