// UploadGate: reports go to the director behind the blobs that they name. It stands between the
// executor slots and the session of a worker without files: events of an attempt pass in order, and
// one that names blobs waits until they are in the director's store. Meanwhile those of other
// attempts pass, if their blobs are not as large; and that a slot is ready for its next job passes
// at once, so that no executor waits for the line.
//
// An upload that breaks off is begun again for as long as the session lasts; meanwhile its blobs
// are kept in the cache. A blob that cannot be uploaded, since its file is damaged or the director
// has no room, ends its job by the machine's fault: the slot is told, nothing more of that attempt
// is reported, and its end says why.
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
  // The executor of the slot is to end, if it still has the attempt.
  using EndJob = std::function<void(uint32_t slot, uint64_t attempt, const std::string& error)>;

  // All outlive it.
  UploadGate(DirectorBytes& director, BlobCache& cache, EventSink& next, EndJob end_job);
  // Close.
  ~UploadGate() override;

  void Take(SessionEvent event, uint64_t stream = 0) override;
  // What waits is dropped; afterwards nothing passes from here. REQUIRES: the calls of `director`
  // are cancelled.
  void Close();

 private:
  void Run(UploadLane lane);
  // Waits for events. None: closed.
  std::vector<SessionEvent> Next(UploadLane lane);
  UploadQueue::Blobs BlobsOf(const std::vector<SessionEvent>& events);
  // False: closed.
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
  std::vector<std::thread> threads_;  // of each lane one
};

}  // namespace galley::worker
