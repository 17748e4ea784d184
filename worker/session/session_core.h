// SessionCore: the knowledge and the decisions of a worker session: which job goes to which
// executor, what is reported, and when the session ends.
//
// Pure: no thread, socket, file or clock; equal events give equal effects. The shell
// (session_shell.h) turns the stream, the executor slots and signals into Events and carries the
// Effects out in order. It calls Flush when NextFlush says so, to get the messages to send.
//
// HeldJobs has the jobs (held_jobs.h), ReportOutbox the reports until the director has persisted
// them (report_outbox.h). A session that can start no executor says that it is unfit, and ends. Log
// lines cause no message: they travel with the next message, behind its reports. While there is no
// director, the newest lines are kept.
//
// Directors come and go. While there is no director, jobs in hand go on, for `reconnect_max`. The
// next director has a higher term and is told everything. A director with a lower term than was
// seen is stale, and its stream is hung up.
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
  // The session ends after so long without a welcome, at the beginning and later.
  absl::Duration first_contact_max = kReconnectMax;
  absl::Duration reconnect_max = kReconnectMax;
};

// How a session ends (CONTRACT.md). kExitDone: no more work; kExitUnfit: refused, or fit for
// nothing; kExitDrained: its jobs are for another session, which must be started.
inline constexpr int kExitDone = 0, kExitUnfit = 3, kExitDrained = 75;
// The bytes of the log that may go to the director between two ticks.
inline constexpr size_t kLogBytesInTick = 64 << 10;
inline constexpr absl::Duration kNewsWaitMax = absl::Milliseconds(200);
// News without reports waits at least so long: most uploads end sooner, and their reports tell that
// a slot is free.
inline constexpr absl::Duration kUploadingWait = absl::Milliseconds(10);

class SessionCore {
 public:
  explicit SessionCore(SessionOptions options);
  SessionCore(const SessionCore&) = delete;  // HeldJobs refers to the reports
  SessionCore& operator=(const SessionCore&) = delete;

  // Applies an event and appends what the shell must do. REQUIRES: now never goes back.
  void Step(absl::Time now, SessionEvent event, SessionEffects& effects);
  // The time when Flush is due. InfinitePast: now; InfiniteFuture: there is nothing to say. News
  // for which nobody waits is told later and together: at most kNewsWaitMax after it happened, and
  // before a quarter of the waiting work is done, so that the director's next jobs come in time.
  absl::Time NextFlush() const;
  // Whether a person waits for the next message: it does not wait for others.
  bool IsAwaited() const {
    return stream_.has_value() && reports_.haste() == ReportOutbox::Haste::kAtOnce;
  }
  // Appends the messages that are due, and the end of the session after its last message.
  void Flush(SessionEffects& effects);

  // Whether there is work but too little memory: then one session of the machine may work with one
  // slot.
  bool WantsLastSlot() const { return governor_.is_short() && !jobs_.empty(); }

  // The time without a director's welcome; zero: a director has welcomed the session.
  absl::Duration AloneFor() const {
    return alone_since_.has_value() ? now_ - *alone_since_ : absl::ZeroDuration();
  }

  size_t in_hand() const { return jobs_.size(); }
  size_t reports_kept() const { return reports_.size(); }

 private:
  // Stream: a connected stream, on which no director may answer; a welcome tells.
  struct Stream {
    uint64_t sent_sequence = 0;
    uint64_t applied_sequence = 0;
    std::optional<absl::Time> news_since;  // the time of the oldest news that was not sent yet
  };
  // Due: what the next message must tell, beside the news of jobs and reports.
  struct Due {
    bool state = true;  // all jobs in hand; at first with Hello
    bool sign_of_life = false;
    bool memory_limit = false;
    bool collections = false;
  };
  // Ending: the session ends with the next flush; an unfit session only once it is connected and
  // has told the director.
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
  // An unfit session first tells a director, or nobody would know why it ended.
  bool MayEnd() const {
    return ending_.has_value() && (stream_.has_value() || ending_->code != kExitUnfit);
  }
  v1::FromWorker NextMessage();

  const SessionOptions options_;
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> alone_since_;  // nullopt: a director has welcomed the session
  std::optional<Stream> stream_;
  std::optional<v1::Welcome> welcome_;  // the last welcome
  bool is_draining_ = false;
  bool wants_another_ = false;  // another session must be started when this one has drained
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
