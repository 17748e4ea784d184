#include "worker/session/upload_gate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::worker {

UploadGate::UploadGate(DirectorBytes& director, BlobCache& cache, EventSink& next, EndJob end_job)
    : director_(director), cache_(cache), next_(next), end_job_(std::move(end_job)) {
  for (const UploadLane lane : kUploadLanes) threads_.emplace_back([this, lane] { Run(lane); });
}

UploadGate::~UploadGate() { Close(); }

void UploadGate::Close() {
  {
    const base::MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
  }
  closing_.Cancel();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void UploadGate::Take(SessionEvent event, uint64_t stream) {
  bool waits = false;
  std::optional<SlotFreed> freed;
  {
    const base::MutexLock lock(mutex_);
    waits = queue_.Wait(event);
    if (waits) {
      freed = queue_.FreedBy(event);
      changed_.NotifyAll();
    }
  }
  if (!waits) return next_.Take(std::move(event), stream);
  if (freed.has_value()) next_.Take(*freed);
}

std::vector<SessionEvent> UploadGate::Next(UploadLane lane) {
  const base::MutexLock lock(mutex_);
  while (!is_closed_) {
    std::vector<SessionEvent> events = queue_.Next(lane);
    if (!events.empty()) return events;
    changed_.Wait(mutex_);
  }
  return {};
}

UploadQueue::Blobs UploadGate::BlobsOf(const std::vector<SessionEvent>& events) {
  const base::MutexLock lock(mutex_);
  return queue_.BlobsOf(events);
}

// Makes a single try.
absl::Status UploadGate::Send(const UploadQueue::Blobs& blobs) {
  std::vector<Digest> digests = blobs.send;
  std::span<const Digest> ask = blobs.ask;
  while (!ask.empty()) {
    const size_t count = std::min(ask.size(), DirectorBytes::kFindMax);
    ASSIGN_OR_RETURN(const std::vector<Digest> missing, director_.FindMissing(ask.first(count)));
    digests.insert(digests.end(), missing.begin(), missing.end());
    ask = ask.subspan(count);
  }
  // Use marks the blobs as used, so that they stay in the cache.
  for (const Digest& digest : digests) cache_.Use(digest);
  if (digests.empty()) return absl::OkStatus();
  return director_.Upload(cache_.directory(), digests);
}

bool UploadGate::Upload(const UploadQueue::Blobs& blobs, absl::Status& status) {
  status = absl::OkStatus();
  for (absl::Duration pause = UploadQueue::kPauseMin; !blobs.empty();
       pause = std::min(2 * pause, UploadQueue::kPauseMax)) {
    status = Send(blobs);
    if (status.ok()) {
      const base::MutexLock lock(mutex_);
      queue_.NoteUploaded(blobs);
      return true;
    }
    if (IsFinalUpload(status)) return true;
    LogWarning("uploading {} blobs: {}", blobs.send.size() + blobs.ask.size(), MessageOf(status));
    closing_.Pause(pause);
    if (closing_.is_cancelled()) return false;
  }
  return true;
}

void UploadGate::Deliver(UploadLane lane, SessionEvent event, const absl::Status& uploaded) {
  UploadQueue::Delivery delivery;
  {
    const base::MutexLock lock(mutex_);
    delivery = queue_.Deliver(std::move(event), uploaded);
  }
  if (delivery.end.has_value()) {
    LogWarning("attempt={} {}", delivery.end->attempt, delivery.end->error);
    end_job_(delivery.end->slot, delivery.end->attempt, delivery.end->error);
  }
  if (delivery.event.has_value()) next_.Take(*delivery.event);
  const base::MutexLock lock(mutex_);
  queue_.Passed(lane, delivery);
  changed_.NotifyAll();
}

// Adds the upload, which serves the whole batch, to a single report.
void UploadGate::NoteUpload(absl::Time started, std::vector<SessionEvent>& events) {
  for (SessionEvent& event : events) {
    auto* const reported = std::get_if<SlotReported>(&event);
    if (reported == nullptr) continue;
    v1::Transfer& transfer = *reported->report.add_transfers();
    transfer.set_started_us(absl::ToUnixMicros(started));
    transfer.set_duration_us(absl::ToInt64Microseconds(absl::Now() - started));
    transfer.set_is_upload(true);
    return;
  }
}

void UploadGate::Run(UploadLane lane) {
  while (true) {
    std::vector<SessionEvent> events = Next(lane);
    if (events.empty()) return;
    absl::Status all;
    const absl::Time started = absl::Now();
    const UploadQueue::Blobs blobs = BlobsOf(events);
    if (!Upload(blobs, all)) return;
    if (!blobs.empty()) NoteUpload(started, events);
    for (SessionEvent& event : events) {
      // In a failed batch of several events, only one may be the reason.
      absl::Status own;
      if (!all.ok() && !Upload(BlobsOf({event}), own)) return;
      Deliver(lane, std::move(event), own);
    }
  }
}

}  // namespace galley::worker
