#include "worker/session/upload_gate.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/wire/convert.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

using Blobs = google::protobuf::RepeatedPtrField<v1::BlobWritten>;

// The blobs that a report names; nullptr: it can name none.
const Blobs* BlobsOf(const SessionEvent& event) {
  const auto* reported = std::get_if<SlotReported>(&event);
  if (reported == nullptr) return nullptr;
  const v1::Report& report = reported->report;
  if (report.has_loaded()) return &report.loaded().blobs();
  if (report.has_saved()) return &report.saved().blobs();
  if (report.has_failed() && report.failed().has_verdict())
    return &report.failed().verdict().blobs();
  return nullptr;
}

std::vector<Digest> DigestsOf(const SessionEvent& event) {
  std::vector<Digest> digests;
  const Blobs* blobs = BlobsOf(event);
  if (blobs == nullptr) return digests;
  for (const v1::BlobWritten& blob : *blobs) {
    const absl::StatusOr<Digest> digest = wire::FromProto(blob.digest());
    if (digest.ok() && digest->size_bytes() > 0) digests.push_back(*digest);
  }
  return digests;
}

void ClearBlobs(v1::Report& report) {
  if (report.has_loaded()) report.mutable_loaded()->clear_blobs();
  if (report.has_saved()) report.mutable_saved()->clear_blobs();
  if (report.has_failed() && report.failed().has_verdict())
    report.mutable_failed()->mutable_verdict()->clear_blobs();
}

// The slot has no more to say of the attempt.
bool IsEnd(const v1::Report& report) {
  return report.has_needs() || report.has_stale() || report.has_ended() ||
         (report.has_failed() && !report.failed().has_verdict());
}

bool IsFinal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status);
}

}  // namespace

UploadGate::UploadGate(DirectorBytes& director, BlobCache& cache, EventSink& next, EndJob end_job)
    : director_(director),
      cache_(cache),
      next_(next),
      end_job_(std::move(end_job)),
      thread_([this] { Run(); }) {}

UploadGate::~UploadGate() { Close(); }

void UploadGate::Close() {
  {
    const base::MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
    closed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void UploadGate::Forget() {
  const base::MutexLock lock(mutex_);
  ++times_forgotten_;
  uploaded_.clear();
}

void UploadGate::Take(const SessionEvent& event, uint64_t stream) {
  {
    const base::MutexLock lock(mutex_);
    const bool is_of_a_job = std::holds_alternative<SlotReported>(event) ||
                             std::holds_alternative<SlotLost>(event) ||
                             std::holds_alternative<SlotFailed>(event);
    if (is_busy_ || !waiting_.empty() || is_of_a_job) {
      waiting_.push_back(event);
      return changed_.NotifyAll();
    }
  }
  // (A slot brings its events one after the other: none of its own overtakes this one.)
  next_.Take(event, stream);
}

std::vector<SessionEvent> UploadGate::Next() {
  std::vector<SessionEvent> events;
  const base::MutexLock lock(mutex_);
  is_busy_ = false;
  while (waiting_.empty() && !is_closed_) changed_.Wait(mutex_);
  if (is_closed_) return events;
  is_busy_ = true;
  uint64_t bytes = 0;
  while (!waiting_.empty()) {
    for (const Digest& digest : DigestsOf(waiting_.front())) bytes += digest.size_bytes();
    if (!events.empty() && bytes > kCallBytesMax) break;
    events.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return events;
}

std::vector<Digest> UploadGate::NewBlobsOf(const std::vector<SessionEvent>& events) {
  std::vector<Digest> digests;
  for (const SessionEvent& event : events) {
    for (const Digest& digest : DigestsOf(event)) digests.push_back(digest);
  }
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  const absl::Time since = clock_.Monotonic() - kRemembered;
  const base::MutexLock lock(mutex_);
  std::erase_if(digests, [&](const Digest& digest) {
    const auto found = uploaded_.find(digest);
    return found != uploaded_.end() && found->second > since;
  });
  return digests;
}

bool UploadGate::Pause(absl::Duration pause) {
  const absl::Time until = clock_.Monotonic() + pause;
  const base::MutexLock lock(mutex_);
  while (!is_closed_ && clock_.Monotonic() < until)
    closed_.WaitFor(mutex_, absl::ToChronoNanoseconds(until - clock_.Monotonic()));
  return !is_closed_;
}

bool UploadGate::Upload(const std::vector<Digest>& digests, absl::Status& status) {
  status = absl::OkStatus();
  for (absl::Duration pause = kPauseMin; !digests.empty(); pause = std::min(2 * pause, kPauseMax)) {
    for (const Digest& digest : digests) cache_.Use(digest);  // so that they stay there
    uint64_t times_forgotten = 0;
    {
      const base::MutexLock lock(mutex_);
      times_forgotten = times_forgotten_;
    }
    status = director_.Upload(cache_.directory(), digests);
    if (status.ok()) {
      const absl::Time now = clock_.Monotonic();
      const base::MutexLock lock(mutex_);
      if (uploaded_.size() > kRememberedMax) uploaded_.clear();
      if (times_forgotten == times_forgotten_) {
        for (const Digest& digest : digests) uploaded_[digest] = now;
      }
      return true;
    }
    if (IsFinal(status)) return true;
    LogWarning("uploading {} blobs: {}", digests.size(), MessageOf(status));
    if (!Pause(pause)) return false;
  }
  return true;
}

void UploadGate::DeliverOfFailed(SessionEvent event, const std::string& error) {
  if (auto* reported = std::get_if<SlotReported>(&event)) {
    if (!IsEnd(reported->report)) return;
    v1::Failed failed;
    failed.set_cause(v1::Failed::INFRASTRUCTURE);
    failed.set_error(error);
    *reported->report.mutable_failed() = std::move(failed);
    failed_.erase(reported->attempt);
  }
  next_.Take(event);
}

void UploadGate::Deliver(SessionEvent event, const absl::Status& uploaded) {
  if (const auto* lost = std::get_if<SlotLost>(&event)) failed_.erase(lost->attempt);
  if (const auto* unstarted = std::get_if<SlotFailed>(&event)) {
    for (const uint64_t attempt : unstarted->attempts) failed_.erase(attempt);
  }
  auto* reported = std::get_if<SlotReported>(&event);
  if (reported == nullptr) return next_.Take(event);
  const uint64_t attempt = reported->attempt;
  if (!uploaded.ok() && !failed_.contains(attempt)) {
    failed_[attempt] = fmt::format("uploading its outputs: {}", MessageOf(uploaded));
    LogWarning("attempt={} {}", attempt, failed_[attempt]);
    end_job_(reported->slot, attempt, failed_[attempt]);
  }
  if (const auto failed = failed_.find(attempt); failed != failed_.end())
    return DeliverOfFailed(std::move(event), std::string(failed->second));
  ClearBlobs(reported->report);  // the director finds them in its store
  next_.Take(event);
}

void UploadGate::Run() {
  while (true) {
    std::vector<SessionEvent> events = Next();
    if (events.empty()) return;
    absl::Status all;
    if (!Upload(NewBlobsOf(events), all)) return;
    for (SessionEvent& event : events) {
      // Of several, one alone may be what cannot be uploaded.
      absl::Status own;
      if (!all.ok() && !Upload(NewBlobsOf({event}), own)) return;
      Deliver(std::move(event), own);
    }
  }
}

}  // namespace galley::worker
