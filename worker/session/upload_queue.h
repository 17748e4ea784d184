// UploadQueue: what UploadGate decides: the order in which events of executor slots pass behind
// the blobs that they name, which blobs are to be uploaded, whether a slot goes on meanwhile, and
// what becomes of a job whose blobs cannot be uploaded. It does no I/O and knows no clock:
// UploadGate and the simulation drive it.
//
// There are two lanes, which a driver serves side by side, so that small results overtake a large
// one: events whose blobs are too many bytes for one call take the second, and so does all that
// follows of their attempts. Events of one attempt stay in order.
//
// For each lane a driver takes a batch (Next), sees to it that the director has the blobs that
// BlobsOf names, calls NoteUploaded, hands each event of the batch to Deliver, lets it pass, and
// says so (Passed). Not thread-safe.
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

// No later try helps: the blob's file is damaged, the director has no room, or it wants nothing of
// this worker.
bool IsFinalUpload(const absl::Status& status);

enum class UploadLane : uint8_t { kSmall, kLarge };
inline constexpr UploadLane kUploadLanes[] = {UploadLane::kSmall, UploadLane::kLarge};

class UploadQueue {
 public:
  static constexpr uint64_t kCallBytesMax = 32 << 20;  // if one report alone has not more
  // Of a larger blob the director is asked first whether it has it.
  static constexpr int64_t kAskedBytesMin = 64 << 10;
  static constexpr size_t kRememberedMax = 65'536;  // of those that were uploaded
  // While more waits to be uploaded, a slot waits, too: a line that is slower than the jobs must
  // not fill the machine's cache.
  static constexpr uint64_t kWaitingBytesMax = 64 << 20;
  static constexpr absl::Duration kPauseMin = absl::Milliseconds(100);
  static constexpr absl::Duration kPauseMax = absl::Seconds(2);

  // `large_bytes_min`: blobs of so many bytes take the lane of large ones.
  explicit UploadQueue(uint64_t large_bytes_min = kCallBytesMax)
      : large_bytes_min_(large_bytes_min) {}

  struct Delivery {
    std::optional<SessionEvent> event;  // passes now; none: nobody may hear of it
    // Set: the executor of this slot is to end, if it still has the attempt.
    struct End {
      uint32_t slot = 0;
      uint64_t attempt = 0;
      std::string error;
    };
    std::optional<End> end;
    std::vector<uint64_t> attempts;  // that the event is of
    uint64_t bytes = 0;              // of the blobs that it named
  };

  // True: the event waits. False: it names no blobs and ends no job, and passes at once: a session
  // that hears late that a program goes on would give its slot to another job meanwhile.
  bool Wait(const SessionEvent& event);
  // What passes at once of an event that waits: its slot is ready for the next job. None: the job
  // goes on there, or too much waits.
  std::optional<SlotFreed> FreedBy(const SessionEvent& event) const;
  // The next batch; empty: nothing of this lane can go now. REQUIRES: the lane's last has passed.
  std::vector<SessionEvent> Next(UploadLane lane);
  // What events name, each once, sorted. Asked for are large ones, and those that were uploaded
  // before: the director's store may have lost them since.
  struct Blobs {
    std::vector<Digest> send;  // most likely the director does not have these
    std::vector<Digest>
        ask;  // those that it lacks are to be sent: large ones, and some that it had
    bool empty() const { return send.empty() && ask.empty(); }
  };
  Blobs BlobsOf(const std::vector<SessionEvent>& events) const;
  void NoteUploaded(const Blobs& blobs);
  // `uploaded`: whether the director has all that the event names; an error is final.
  Delivery Deliver(SessionEvent event, const absl::Status& uploaded);
  // What Deliver returned is done. The other lane may have waited for it.
  void Passed(UploadLane lane, const Delivery& delivery);

 private:
  using Counts = std::map<uint64_t, size_t>;  // of events that have not passed, by attempt
  static bool HasAny(const Counts& counts, const std::vector<uint64_t>& attempts);
  bool MayGo(UploadLane lane, const SessionEvent& event) const;
  std::optional<SessionEvent> OfFailed(SessionEvent event, const std::string& error);

  std::map<uint64_t, std::string>
      failed_;  // attempts with blobs that cannot be uploaded: the error
  const uint64_t large_bytes_min_;
  std::deque<SessionEvent> small_, large_;  // that wait
  uint64_t waiting_bytes_ = 0;              // of blobs of what has not passed
  Counts of_small_, of_large_;
  absl::flat_hash_set<Digest> uploaded_;  // the director may have lost them since, or be another
};

}  // namespace galley::worker
