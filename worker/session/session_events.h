// Session events: what happens to a worker session (SessionEvent), and what its shell must do in
// answer (SessionEffect). A `slot` here is a lane (lanes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/memory_limit.h"
#include "galley/v1/executor.pb.h"
#include "galley/v1/worker.pb.h"
#include "google/protobuf/repeated_field.h"
#include "worker/session/collection.h"

namespace galley::worker {

// --- Events.
struct Connected {};  // a new stream, on which nothing was sent yet
struct Disconnected {};
struct Refused {  // the director does not want this worker
  std::string reason;
};
struct Received {
  v1::ToWorker message;
};
// A report of the slot's executor about the attempt that it runs. Failed, needs, stale and ended
// end the job on the slot. The report has no number yet.
struct SlotReported {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  v1::Report report;
};
// The executor was lost while it ran the attempt; the slot is ready for another job.
struct SlotLost {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  v1::Failed::Cause cause = v1::Failed::CAUSE_UNKNOWN;
  std::string error;
  std::string log_tail;
  std::optional<v1::Opened> opened = {};  // for Failed
  bool is_loaded = false;                 // for Failed
  bool was_killed = false;                // for Failed
};
// No executor could be started: these attempts, in the slot's order, are unchanged.
struct SlotFailed {
  uint32_t slot = 0;
  std::vector<uint64_t> attempts;
  std::string error;
};
// The slot is done with the attempt and ready for another job. The slot's reports of the attempt
// come later, when its blobs are uploaded.
struct SlotFreed {
  uint32_t slot = 0;
  uint64_t attempt = 0;
};
// The programs of the attempt, which the slot runs, only wait; or they no longer do.
struct SlotPending {
  uint32_t slot = 0;
  uint64_t attempt = 0;
  bool is_pending = false;
};
// The slot's executor gave memory back between two jobs, or was replaced because of its memory.
struct SlotCollected {
  uint32_t slot = 0;
  CollectionStep step;
  uint64_t before_bytes = 0;  // resident
  uint64_t after_bytes = 0;
};
struct Logged {
  v1::LogLine line;
};
// No segment that the director gave can be written to.
struct SegmentUnusable {
  std::string reason;
};
struct TerminateAsked {};  // by SIGTERM, or the input ended
struct Tick {
  uint64_t memory_bytes = 0;  // resident, of session and executors
};
// Comes periodically, and before the first Connected.
struct MemorySampled {
  MemoryRoom room;
  uint64_t executor_bytes = 0;  // of the largest executor
  bool holds_last_slot = false;
};
// A look at the disks to which jobs write; empty: all of them have room.
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
// Kill the executor if it still runs this attempt. SlotLost or the job's own end answers.
struct StopJob {
  uint32_t slot = 0;
  uint64_t attempt = 0;
};
struct LeaveOut {  // do not cook platforms of the part that have not begun; no event answers
  uint32_t slot = 0;
  v1::JobPart part;
};
struct FetchAhead {  // jobs that begin soon, in this order; only the fields about reads are set
  google::protobuf::RepeatedPtrField<v1::Job> jobs;
};
struct GiveSegments {
  std::vector<uint64_t> segments;
};
struct SendMessage {
  v1::FromWorker message;
};
// Break the stream off: its messages were lost or unusable. A new stream begins with the whole
// state.
struct HangUp {
  std::string reason;
};
struct ExitSession {
  int code = 0;
  std::string reason;
  bool said_goodbye = false;  // to a director that must read it
};
using SessionEffect = std::variant<ConfigureSlots, FetchAhead, StartJob, StopJob, LeaveOut,
                                   GiveSegments, SendMessage, HangUp, ExitSession>;

using SessionEffects = std::vector<SessionEffect>;

}  // namespace galley::worker
