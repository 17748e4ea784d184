#include "worker/session/upload_queue.h"

#include <algorithm>

#include "common/base/sabotage.h"
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

}  // namespace

bool IsFinalUpload(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status) ||
         absl::IsPermissionDenied(status);
}

bool UploadQueue::Wait(const SessionEvent& event) {
  if (IsSabotaged(Sabotage::kReportEarly)) return false;
  if (!std::holds_alternative<SlotReported>(event) && !std::holds_alternative<SlotLost>(event) &&
      !std::holds_alternative<SlotFailed>(event))
    return false;
  waiting_.push_back(event);
  return true;
}

std::vector<SessionEvent> UploadQueue::Next() {
  std::vector<SessionEvent> events;
  uint64_t bytes = 0;
  while (!waiting_.empty()) {
    for (const Digest& digest : DigestsOf(waiting_.front())) bytes += digest.size_bytes();
    if (!events.empty() && bytes > kCallBytesMax) break;
    events.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return events;
}

UploadQueue::Blobs UploadQueue::BlobsOf(const std::vector<SessionEvent>& events) const {
  std::vector<Digest> digests;
  for (const SessionEvent& event : events) {
    for (const Digest& digest : DigestsOf(event)) digests.push_back(digest);
  }
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  Blobs blobs;
  for (const Digest& digest : digests) {
    if (IsSabotaged(Sabotage::kTrustUploaded) && uploaded_.contains(digest)) continue;
    const bool is_asked = digest.size_bytes() >= kAskedBytesMin || uploaded_.contains(digest);
    (is_asked ? blobs.ask : blobs.send).push_back(digest);
  }
  return blobs;
}

void UploadQueue::NoteUploaded(const Blobs& blobs) {
  if (uploaded_.size() > kRememberedMax) uploaded_.clear();
  uploaded_.insert(blobs.send.begin(), blobs.send.end());
}

std::optional<SessionEvent> UploadQueue::OfFailed(SessionEvent event, const std::string& error) {
  auto* reported = std::get_if<SlotReported>(&event);
  if (reported == nullptr) return event;
  if (!IsEnd(reported->report)) return std::nullopt;
  v1::Failed failed;
  failed.set_cause(v1::Failed::INFRASTRUCTURE);
  failed.set_error(error);
  *reported->report.mutable_failed() = std::move(failed);
  failed_.erase(reported->attempt);
  return event;
}

UploadQueue::Delivery UploadQueue::Deliver(SessionEvent event, const absl::Status& uploaded) {
  Delivery delivery;
  if (const auto* lost = std::get_if<SlotLost>(&event)) failed_.erase(lost->attempt);
  if (const auto* unstarted = std::get_if<SlotFailed>(&event)) {
    for (const uint64_t attempt : unstarted->attempts) failed_.erase(attempt);
  }
  auto* reported = std::get_if<SlotReported>(&event);
  if (reported == nullptr) {
    delivery.event = std::move(event);
    return delivery;
  }
  const uint64_t attempt = reported->attempt;
  if (!uploaded.ok() && !failed_.contains(attempt)) {
    failed_[attempt] = fmt::format("uploading its outputs: {}", std::string(uploaded.message()));
    delivery.end = {reported->slot, attempt, failed_[attempt]};
  }
  if (const auto failed = failed_.find(attempt); failed != failed_.end()) {
    delivery.event = OfFailed(std::move(event), std::string(failed->second));
    return delivery;
  }
  ClearBlobs(reported->report);  // the director finds them in its store
  delivery.event = std::move(event);
  return delivery;
}

}  // namespace galley::worker
