// UploadQueue: the decisions of UploadGate: the order in which events of executor slots pass after
// the blobs that they name, which blobs must be uploaded, whether a slot goes on meanwhile, and
// what becomes of a job whose blobs cannot be uploaded. UploadQueue does no I/O and knows no clock:
// UploadGate and the simulation drive it.
//
// A driver serves two lanes side by side, so that small results overtake a large one. Events whose
// blobs are too many bytes for a single call take the large lane, and so do events of their
// attempts that come before they have passed. Events of an attempt stay in order.
//
// For each lane a driver takes a batch (Next), ensures that the director has the blobs of BlobsOf,
// calls NoteUploaded, hands each event of the batch to Deliver, lets it pass, and calls Passed.
// Threads: none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "worker/session/session_core.h"

namespace galley::worker {

// Whether another try is useless: the blob's file is damaged, the director has no room, or the
// director refuses this worker.
bool IsFinalUpload(const absl::Status& status);

enum class UploadLane : uint8_t { kSmall, kLarge };
inline constexpr UploadLane kUploadLanes[] = {UploadLane::kSmall, UploadLane::kLarge};

class UploadQueue {
 public:
  static constexpr uint64_t kCallBytesMax = 32 << 20;  // unless a single report has more
  // For a blob of at least so many bytes, the director is first asked whether it has the blob.
  static constexpr int64_t kAskedBytesMin = 64 << 10;
  static constexpr size_t kRememberedMax = 65'536;  // uploaded blobs that are remembered
  // While more bytes wait to be uploaded, a slot waits, too: a slow network must not fill the
  // machine's cache.
  static constexpr uint64_t kWaitingBytesMax = 64 << 20;
  static constexpr absl::Duration kPauseMin = absl::Milliseconds(100);
  static constexpr absl::Duration kPauseMax = absl::Seconds(2);

  // `large_bytes_min`: blobs of so many bytes take the large lane.
  explicit UploadQueue(uint64_t large_bytes_min = kCallBytesMax)
      : large_bytes_min_(large_bytes_min) {}

  struct Delivery {
    std::optional<SessionEvent> event;  // passes now; nullopt: the event is dropped
    // Set: the executor of this slot must end, if it still has the attempt.
    struct End {
      uint32_t slot = 0;
      uint64_t attempt = 0;
      std::string error;
    };
    std::optional<End> end;
    std::vector<uint64_t> attempts;  // the attempts of the event
    uint64_t bytes = 0;              // bytes of the blobs that the event named
  };

  // True: the event waits. False: the event passes at once, since it names no blobs, ends no job,
  // and follows no waiting event of its attempt. A session that hears late that a program goes on
  // would meanwhile give its slot to another job.
  bool Wait(const SessionEvent& event);
  // The event that passes at once beside a waiting event: the slot is ready for its next job.
  // nullopt: the job goes on, or too many bytes wait.
  std::optional<SlotFreed> FreedBy(const SessionEvent& event) const;
  // The next batch; empty: no event of this lane can go now. REQUIRES: the lane's last batch has
  // passed.
  std::vector<SessionEvent> Next(UploadLane lane);
  // The blobs that events name, each once, sorted. The director is asked for large blobs, and for
  // blobs that were uploaded before, because its store may have lost them since.
  struct Blobs {
    std::vector<Digest> send;  // the director most likely does not have these
    std::vector<Digest> ask;   // must be sent if the director lacks them
    bool empty() const { return send.empty() && ask.empty(); }
  };
  Blobs BlobsOf(const std::vector<SessionEvent>& events) const;
  void NoteUploaded(const Blobs& blobs);
  // `uploaded`: OK when the director has every blob that the event names; an error is final.
  Delivery Deliver(SessionEvent event, const absl::Status& uploaded);
  // The caller has done what Deliver returned. The other lane may have waited for this event.
  void Passed(UploadLane lane, const Delivery& delivery);

 private:
  using Counts = std::map<uint64_t, size_t>;  // attempt -> number of events that have not passed
  static bool HasAny(const Counts& counts, const std::vector<uint64_t>& attempts);
  bool MayGo(UploadLane lane, const SessionEvent& event) const;
  std::optional<SessionEvent> OfFailed(SessionEvent event, const std::string& error);

  // Attempt -> error, for attempts with blobs that cannot be uploaded.
  std::map<uint64_t, std::string> failed_;
  const uint64_t large_bytes_min_;
  std::deque<SessionEvent> small_, large_;  // waiting events
  uint64_t waiting_bytes_ = 0;              // bytes of the blobs of events that have not passed
  Counts of_small_, of_large_;
  absl::flat_hash_set<Digest> uploaded_;  // a director may have lost them
};

}  // namespace galley::worker
