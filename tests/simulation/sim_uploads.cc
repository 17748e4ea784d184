#include "tests/simulation/sim_uploads.h"

#include <algorithm>

namespace galley::simulation {

using worker::UploadQueue;

void SimUploads::Take(const worker::SessionEvent& event) {
  if (!queue_.Wait(event)) return deps_.deliver(event);
  if (const auto freed = queue_.FreedBy(event)) deps_.deliver(*freed);
  Next();
}

void SimUploads::Next() {
  for (const Lane lane : worker::kUploadLanes) NextOf(lane);
}

void SimUploads::NextOf(Lane lane) {
  if (is_busy_[lane]) return;
  const Events events = queue_.Next(lane);
  if (events.empty()) return;
  is_busy_[lane] = true;
  Upload(events, UploadQueue::kPauseMin,
         [=, this](const absl::Status& all) { DeliverFrom(lane, events, 0, all); });
}

// Tries until the upload succeeds, or no later try helps.
void SimUploads::Upload(const Events& events, absl::Duration pause, const Done& done) {
  const UploadQueue::Blobs blobs = queue_.BlobsOf(events);
  if (blobs.empty()) return done(absl::OkStatus());
  Find(blobs, [=, this](const absl::Status& status) {
    if (status.ok()) queue_.NoteUploaded(blobs);
    if (status.ok() || worker::IsFinalUpload(status)) return done(status);
    deps_.after(pause,
                [=, this] { Upload(events, std::min(2 * pause, UploadQueue::kPauseMax), done); });
  });
}

void SimUploads::Find(const UploadQueue::Blobs& blobs, const Done& done) {
  if (blobs.ask.empty()) return Send(blobs.send, done);
  deps_.find_missing(blobs.ask, [=, this](const absl::StatusOr<std::vector<Digest>>& missing) {
    if (!missing.ok()) return done(missing.status());
    std::vector<Digest> digests = blobs.send;
    digests.insert(digests.end(), missing->begin(), missing->end());
    Send(digests, done);
  });
}

void SimUploads::Send(const std::vector<Digest>& digests, const Done& done) {
  Blobs blobs;
  for (const Digest& digest : digests) {
    const auto found = deps_.cache.find(digest);
    if (found == deps_.cache.end())
      return done(absl::InvalidArgumentError("the file of a blob is gone"));
    blobs.emplace_back(digest, found->second);
  }
  if (blobs.empty()) return done(absl::OkStatus());
  deps_.upload(blobs, done);
}

void SimUploads::DeliverFrom(Lane lane, const Events& events, size_t at, const absl::Status& all) {
  if (at == events.size()) {
    is_busy_[lane] = false;
    return Next();
  }
  const auto deliver = [=, this](const absl::Status& own) {
    Deliver(lane, events[at], own);
    DeliverFrom(lane, events, at + 1, all);
  };
  if (all.ok()) return deliver(all);
  // Perhaps only one of the events is the reason.
  Upload({events[at]}, UploadQueue::kPauseMin, deliver);
}

void SimUploads::Deliver(Lane lane, const worker::SessionEvent& event,
                         const absl::Status& uploaded) {
  const UploadQueue::Delivery delivery = queue_.Deliver(event, uploaded);
  if (delivery.end.has_value()) deps_.end_job(*delivery.end);
  if (delivery.event.has_value()) deps_.deliver(*delivery.event);
  queue_.Passed(lane, delivery);
}

}  // namespace galley::simulation
