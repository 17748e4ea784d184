// UploadGate: lets reports go to the director only after the blobs that they name. It stands
// between the executor slots and the session of a worker without files. Events of an attempt pass
// in order, and an event that names blobs waits until the director's store has them. Meanwhile
// events of other attempts with smaller blobs pass. The event that frees a slot passes at once, so
// that no executor waits for the network.
//
// An upload that breaks off is repeated for as long as the session lasts; meanwhile the cache keeps
// its blobs. A blob that cannot be uploaded, because its file is damaged or the director has no
// room, ends its job by the machine's fault: the slot is told, nothing more of the attempt is
// reported, and its end says why.
// Threads: Take from any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "worker/session/blob_cache.h"
#include "worker/session/director_bytes.h"
#include "worker/session/event_sink.h"
#include "worker/session/upload_queue.h"

namespace galley::worker {

class UploadGate final : public EventSink {
 public:
  // Ends the executor of the slot, if it still has the attempt.
  using EndJob = std::function<void(uint32_t slot, uint64_t attempt, const std::string& error)>;

  // The references outlive the gate.
  UploadGate(DirectorBytes& director, BlobCache& cache, EventSink& next, EndJob end_job);
  // Calls Close.
  ~UploadGate() override;

  void Take(SessionEvent event, uint64_t stream = 0) override;
  // Drops waiting events; after Close nothing passes. REQUIRES: the calls of `director` are
  // cancelled.
  void Close();

 private:
  void Run(UploadLane lane);
  // Waits for events; empty: the gate is closed.
  std::vector<SessionEvent> Next(UploadLane lane);
  UploadQueue::Blobs BlobsOf(const std::vector<SessionEvent>& events);
  // False: the gate is closed.
  bool Upload(const UploadQueue::Blobs& blobs, absl::Status& status);
  absl::Status Send(const UploadQueue::Blobs& blobs);
  static void NoteUpload(absl::Time started, std::vector<SessionEvent>& events);
  void Deliver(UploadLane lane, SessionEvent event, const absl::Status& uploaded);

  DirectorBytes& director_;
  BlobCache& cache_;
  EventSink& next_;
  const EndJob end_job_;

  base::Mutex mutex_;
  base::CondVar changed_;
  Cancellation closing_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  UploadQueue queue_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // a thread for each lane
};

}  // namespace galley::worker
