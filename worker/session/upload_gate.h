// UploadGate: reports go to the director behind the blobs that they name. It stands between the
// executor slots and the session of a worker without files: events pass in order, and one that
// names blobs waits until they are in the director's store.
//
// An upload that breaks off is begun again for as long as the session lasts; meanwhile its blobs
// are kept in the cache. A blob that cannot be uploaded, since its file is damaged or the director
// has no room, ends its job by the machine's fault: the slot is told, nothing more of that attempt
// is reported, and its end says why.
// Threads: Take from any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "worker/session/blob_cache.h"
#include "worker/session/director_bytes.h"
#include "worker/session/event_sink.h"

namespace galley::worker {

class UploadGate final : public EventSink {
 public:
  static constexpr uint64_t kCallBytesMax = 32 << 20;  // if one report alone has not more
  // So long what was uploaded is not uploaded again; then the director may have lost it.
  static constexpr absl::Duration kRemembered = absl::Seconds(60);
  static constexpr size_t kRememberedMax = 65'536;
  static constexpr absl::Duration kPauseMin = absl::Milliseconds(100);
  static constexpr absl::Duration kPauseMax = absl::Seconds(2);

  // The executor of the slot is to end, if it still has the attempt.
  using EndJob = std::function<void(uint32_t slot, uint64_t attempt, const std::string& error)>;

  // All outlive it.
  UploadGate(DirectorBytes& director, BlobCache& cache, EventSink& next, EndJob end_job);
  // Close.
  ~UploadGate() override;

  void Take(const SessionEvent& event, uint64_t stream = 0) override;
  // Another director may not have what the last one was given.
  void Forget();
  // What waits is dropped; afterwards nothing passes from here. REQUIRES: the calls of `director`
  // are cancelled.
  void Close();

 private:
  void Run();
  // Waits for events. None: closed.
  std::vector<SessionEvent> Next();
  std::vector<Digest> NewBlobsOf(const std::vector<SessionEvent>& events);
  // False: closed.
  bool Upload(const std::vector<Digest>& digests, absl::Status& status);
  bool Pause(absl::Duration pause);
  void Deliver(SessionEvent event, const absl::Status& uploaded);
  // What is left to be said of an attempt that cannot be reported on any more.
  void DeliverOfFailed(SessionEvent event, const std::string& error);

  DirectorBytes& director_;
  BlobCache& cache_;
  EventSink& next_;
  const EndJob end_job_;
  SystemClock clock_;
  std::map<uint64_t, std::string> failed_;  // by attempt: the error; the thread's own

  base::Mutex mutex_;
  base::CondVar changed_, closed_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_busy_ GALLEY_GUARDED_BY(mutex_) = false;  // the thread delivers
  std::deque<SessionEvent> waiting_ GALLEY_GUARDED_BY(mutex_);
  uint64_t times_forgotten_ GALLEY_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<Digest, absl::Time> uploaded_ GALLEY_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace galley::worker
