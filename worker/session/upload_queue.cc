#include "worker/session/upload_queue.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "common/wire/convert.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

using Blobs = google::protobuf::RepeatedPtrField<v1::BlobWritten>;

// The blobs that a report names; nullptr: the event cannot name blobs.
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

bool NamesBlobs(const SessionEvent& event) {
  const Blobs* const blobs = BlobsOf(event);
  return blobs != nullptr && !blobs->empty();
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

uint64_t BytesOf(const SessionEvent& event) {
  uint64_t bytes = 0;
  for (const Digest& digest : DigestsOf(event)) bytes += digest.size_bytes();
  return bytes;
}

std::vector<uint64_t> AttemptsOf(const SessionEvent& event) {
  if (const auto* reported = std::get_if<SlotReported>(&event)) return {reported->attempt};
  if (const auto* lost = std::get_if<SlotLost>(&event)) return {lost->attempt};
  if (const auto* unstarted = std::get_if<SlotFailed>(&event)) return unstarted->attempts;
  return {};
}

void ClearBlobs(v1::Report& report) {
  if (report.has_loaded()) report.mutable_loaded()->clear_blobs();
  if (report.has_saved()) report.mutable_saved()->clear_blobs();
  if (report.has_failed() && report.failed().has_verdict())
    report.mutable_failed()->mutable_verdict()->clear_blobs();
}

// Whether the slot will report no more of the attempt.
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
  const std::vector<uint64_t> attempts = AttemptsOf(event);
  const uint64_t bytes = BytesOf(event);
  const auto* reported = std::get_if<SlotReported>(&event);
  const bool waits_for_others = HasAny(of_small_, attempts) || HasAny(of_large_, attempts);
  if (reported != nullptr && !NamesBlobs(event) && !IsEnd(reported->report) && !waits_for_others &&
      !failed_.contains(reported->attempt))
    return false;
  waiting_bytes_ += bytes;
  const bool is_large = bytes >= large_bytes_min_ || HasAny(of_large_, attempts);
  (is_large ? large_ : small_).push_back(event);
  for (const uint64_t attempt : attempts) ++(is_large ? of_large_ : of_small_)[attempt];
  return true;
}

std::optional<SlotFreed> UploadQueue::FreedBy(const SessionEvent& event) const {
  if (waiting_bytes_ > kWaitingBytesMax) return std::nullopt;
  if (const auto* lost = std::get_if<SlotLost>(&event))
    return SlotFreed{.slot = lost->slot, .attempt = lost->attempt};
  const auto* reported = std::get_if<SlotReported>(&event);
  if (reported == nullptr || !IsEnd(reported->report)) return std::nullopt;
  return SlotFreed{.slot = reported->slot, .attempt = reported->attempt};
}

bool UploadQueue::HasAny(const Counts& counts, const std::vector<uint64_t>& attempts) {
  return std::ranges::any_of(attempts, [&](uint64_t attempt) { return counts.contains(attempt); });
}

// A small event never follows a large event of its attempt (Wait); a large event may follow small
// ones.
bool UploadQueue::MayGo(UploadLane lane, const SessionEvent& event) const {
  return lane == UploadLane::kSmall || !HasAny(of_small_, AttemptsOf(event));
}

std::vector<SessionEvent> UploadQueue::Next(UploadLane lane) {
  std::deque<SessionEvent>& waiting = lane == UploadLane::kSmall ? small_ : large_;
  std::vector<SessionEvent> events;
  uint64_t bytes = 0;
  for (auto at = waiting.begin(); at != waiting.end();) {
    if (!MayGo(lane, *at)) {
      ++at;  // later events of its attempt stay, too
      continue;
    }
    bytes += BytesOf(*at);
    if (!events.empty() && bytes > kCallBytesMax) break;
    events.push_back(std::move(*at));
    at = waiting.erase(at);
  }
  return events;
}

void UploadQueue::Passed(UploadLane lane, const Delivery& delivery) {
  waiting_bytes_ -= delivery.bytes;
  Counts& counts = lane == UploadLane::kSmall ? of_small_ : of_large_;
  for (const uint64_t attempt : delivery.attempts) {
    const auto at = counts.find(attempt);
    if (at != counts.end() && --at->second == 0) counts.erase(at);
  }
}

UploadQueue::Blobs UploadQueue::BlobsOf(const std::vector<SessionEvent>& events) const {
  std::vector<Digest> digests;
  for (const SessionEvent& event : events) {
    for (const Digest& digest : DigestsOf(event)) digests.push_back(digest);
  }
  std::ranges::sort(digests);
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
  Delivery delivery{.attempts = AttemptsOf(event), .bytes = BytesOf(event)};
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
  ClearBlobs(reported->report);  // the director finds the blobs in its store
  delivery.event = std::move(event);
  return delivery;
}

}  // namespace galley::worker
