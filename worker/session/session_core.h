// SessionCore: what a worker session knows and decides: which job goes to which executor, what is
// reported, when the session ends.
//
// Pure: no thread, socket, file or clock; equal events give equal effects. The shell
// (session_shell.h) turns the stream, the executor slots and signals into Events and carries the
// Effects out in order; it calls Flush when NextFlush says so, for the messages to send.
//
// HeldJobs has the jobs (held_jobs.h), ReportOutbox the reports until the director persisted them
// (report_outbox.h). A session that can start no executor says that it is unfit, and ends. Lines of
// the log are no news: they travel with the next message, behind its reports; the newest are kept
// while there is no director.
//
// Directors come and go: while there is none, what is in hand goes on, for `reconnect_max`. The
// next one has a higher term and hears of it all; one with a lower term than was seen is stale, and
// nothing that it says is done.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "galley/v1/worker.pb.h"
#include "worker/session/governor.h"
#include "worker/session/held_jobs.h"
#include "worker/session/log_ring.h"
#include "worker/session/report_outbox.h"
#include "worker/session/session_events.h"

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
  record::WorkerOffer offer;      // v1::Hello
  // Without a director's welcome, at the beginning and later: the session ends.
  absl::Duration first_contact_max = kReconnectMax;
  absl::Duration reconnect_max = kReconnectMax;
};

// How a session ends (CONTRACT.md): no more work; refused, or fit for nothing; what it had in hand
// is for another one, which is to be started.
inline constexpr int kExitDone = 0, kExitUnfit = 3, kExitDrained = 75;
inline constexpr uint32_t kSlotsMax = 1'024;
// So much of the log goes to the director between two ticks.
inline constexpr size_t kLogBytesInTick = 64 << 10;
inline constexpr absl::Duration kNewsWaitMax = absl::Milliseconds(200);
// Most uploads are over sooner, and the reports behind them tell that a slot went on.
inline constexpr absl::Duration kUploadingWait = absl::Milliseconds(10);

class SessionCore {
 public:
  explicit SessionCore(SessionOptions options);

  // Applies one event and appends what the shell must do. REQUIRES: now never goes back.
  void Step(absl::Time now, SessionEvent event, SessionEffects& effects);
  // When Flush is due: InfinitePast: now; InfiniteFuture: there is nothing to say. What nobody
  // waits for is told later and together: at most kNewsWaitMax after it happened, and before a
  // quarter of the work that waits here is done, so that the director's next jobs come in time.
  absl::Time NextFlush() const;
  // Appends the messages that are due, and the end of the session once all is said.
  void Flush(SessionEffects& effects);

  // There is work, and too little memory: one session of the machine may work on with one slot.
  bool WantsLastSlot() const { return governor_.is_short() && !jobs_.empty(); }

  // So long no director has welcomed it; zero: one has.
  absl::Duration AloneFor() const {
    return alone_since_.has_value() ? now_ - *alone_since_ : absl::ZeroDuration();
  }

  size_t in_hand() const { return jobs_.size(); }
  size_t reports_kept() const { return reports_.size(); }

 private:
  // A stream to a director, or to nobody: a welcome tells.
  struct Stream {
    uint64_t sent_sequence = 0;
    uint64_t applied_sequence = 0;
    std::optional<absl::Time> news_since;  // not told yet
  };
  // To be told with the next message, beside what the jobs and reports have to tell.
  struct Due {
    bool state = true;  // all that is in hand, at first with Hello
    bool sign_of_life = false;
    bool memory_limit = false;
    bool collections = false;
  };
  // The session ends with the next flush.
  struct Ending {
    int code = 0;
    std::string reason;
  };

  void Apply(const Connected&, SessionEffects&);
  void Apply(const Disconnected&, SessionEffects&);
  void Apply(const Refused& event, SessionEffects& effects);
  void Apply(Received& event, SessionEffects& effects);
  void Apply(SlotReported& event, SessionEffects&) { jobs_.TakeReport(event); }
  void Apply(const SlotLost& event, SessionEffects&) { jobs_.LoseJob(event); }
  void Apply(const SlotFailed& event, SessionEffects&);
  void Apply(const SlotFreed& event, SessionEffects&) { jobs_.FreeSlot(event); }
  void Apply(const SlotPending& event, SessionEffects&) { jobs_.SetPending(event); }
  void Apply(const SlotCollected& event, SessionEffects&);
  void Apply(const Logged& event, SessionEffects&) { log_.Add(event.line); }
  void Apply(const SegmentUnusable& event, SessionEffects& effects);
  void Apply(const TerminateAsked&, SessionEffects&);
  void Apply(const Tick& event, SessionEffects& effects);
  void Apply(const MemorySampled& event, SessionEffects&);
  void Apply(const DiskSampled& event, SessionEffects&);

  void TakeMessage(v1::ToWorker& message, SessionEffects& effects);
  void HangUpStream(std::string reason, SessionEffects& effects);
  void Exit(int code, std::string reason, SessionEffects& effects);
  void Say(int level, std::string text);
  bool IsPressed() const;
  bool HasMessage() const;
  bool IsDrained() const { return is_draining_ && jobs_.empty() && reports_.size() == 0; }
  // An unfit session says so first, or nobody would know why it went.
  bool MayEnd() const {
    return ending_.has_value() && (stream_.has_value() || ending_->code != kExitUnfit);
  }
  v1::FromWorker NextMessage();

  const SessionOptions options_;
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> alone_since_;  // no welcome
  std::optional<Stream> stream_;
  std::optional<v1::Welcome> welcome_;  // the last one
  bool is_draining_ = false;
  bool wants_another_ = false;  // started in place of this session, when it drained
  std::optional<Ending> ending_;
  bool has_ended_ = false;

  ReportOutbox reports_;
  HeldJobs jobs_;
  Governor governor_;
  std::string disk_lack_;      // DiskSampled
  uint64_t memory_bytes_ = 0;  // Tick
  v1::Collections collections_;
  LogRing log_;
  size_t log_bytes_left_ = kLogBytesInTick;  // until the next tick
  Due due_;
};

}  // namespace galley::worker
