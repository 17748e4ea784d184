// SimUploads: the way of a remote worker's events to its session, behind the uploads of the blobs
// that they name. The real UploadQueue decides; calls to the director are simulated.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "worker/session/upload_queue.h"

namespace galley::simulation {

// A machine's cache of blobs; some of it may be gone at any time.
using BlobCache = std::map<Digest, std::string>;

class SimUploads {
 public:
  using Blobs = std::vector<std::pair<Digest, std::string>>;
  using Done = std::function<void(absl::Status)>;
  using Found = std::function<void(absl::StatusOr<std::vector<Digest>>)>;
  struct Deps {
    const BlobCache& cache;
    std::function<void(absl::Duration, std::function<void()>)> after;
    std::function<void(const std::vector<Digest>&, Found)> find_missing;
    std::function<void(const Blobs&, Done)> upload;
    std::function<void(const worker::SessionEvent&)> deliver;
    std::function<void(const worker::UploadQueue::Delivery::End&)> end_job;
  };
  explicit SimUploads(Deps deps) : deps_(std::move(deps)) {}

  void Take(const worker::SessionEvent& event);

 private:
  using Lane = worker::UploadLane;
  using Events = std::vector<worker::SessionEvent>;

  void NextOf(Lane lane);
  void Next();
  void Upload(const Events& events, absl::Duration pause, const Done& done);
  void Find(const worker::UploadQueue::Blobs& blobs, const Done& done);
  void Send(const std::vector<Digest>& digests, const Done& done);
  void DeliverFrom(Lane lane, const Events& events, size_t at, const absl::Status& all);
  void Deliver(Lane lane, const worker::SessionEvent& event, const absl::Status& uploaded);

  const Deps deps_;
  static constexpr uint64_t kLargeBytesMin = 48;  // so that some results are large
  worker::UploadQueue queue_{kLargeBytesMin};
  std::map<Lane, bool> is_busy_;
};

}  // namespace galley::simulation
