// DeviceDoor: the HTTP of a resident director: the address of [director] http, the face for devices
// behind it, and the blobs that it holds open.
//
// The door opens before its director is ready, so that an address that is in use is noticed before
// anyone sees the director. Until Serve is called, requests get a 503.
//
// An address that others than this machine can reach has the certificate of [farm] tls_cert and
// tls_key, and wants a token, which the director makes once and keeps in kHttpTokenFile.
// Threads: one; Url and figures: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/project/project.h"
#include "common/store/interface/store.h"
#include "director/serve/device_calls.h"
#include "director/serve/device_face/device_face.h"
#include "director/serve/device_face/verified_blobs.h"
#include "director/serve/http/http_door.h"
#include "director/serve/http/http_face.h"

namespace galley::director {

// Under the state folder. The URL, while the door is open; and the token, for its owner only.
inline constexpr const char* kHttpUrlFile = "http-url";
inline constexpr const char* kHttpTokenFile = "http-token";

// INVALID_ARGUMENT, for people: [director] http is not HOST:PORT; others than this machine may
// reach it, and there is no certificate; a platform has the name of something else under /v1. OK
// for a project without [director] http.
absl::Status CheckDeviceDoor(const project::Project& project);

// Returns how many connections a door has at most, if the process may have `descriptors`: half of
// these, at most 16,384. Each idle stream of changes has a connection.
size_t DeviceConnectionsMax(uint64_t descriptors);

// Returns "http://127.0.0.1:8080"; empty: the project's director answers no devices.
std::string DeviceUrl(const project::Project& project);

class DeviceDoor {
 public:
  // Null: the project has no [director] http. `store` outlives the door. Errors: outcome_status.h.
  // REQUIRES: the project's lock.
  static absl::StatusOr<std::unique_ptr<DeviceDoor>> Open(const project::Project& project,
                                                          store::Store& store);
  ~DeviceDoor() { Close(); }

  // Answers requests by `calls`, which outlives the door. Called at most once.
  void Serve(DeviceCalls& calls);

  const std::string& url() const { return url_; }
  HttpDoorFigures figures() const { return door_->figures(); }
  // Looks at certificates, and lets go of blobs that the store dropped. Called each second.
  void Look();
  // Ends all requests and streams, and removes the file with the URL. The calls that wait are
  // cancelled.
  void Close();

 private:
  // Gate: stands in front of the face, which is not there from the beginning.
  class Gate final : public HttpFace {
   public:
    explicit Gate(std::shared_ptr<VerifiedBlobs> blobs) : blobs_(std::move(blobs)) {}
    void Serve(DeviceCalls& calls);
    void Answer(HttpRequest request, HttpResponder responder) override;

   private:
    const std::shared_ptr<VerifiedBlobs> blobs_;
    std::unique_ptr<DeviceFace> face_;
    std::atomic<DeviceFace*> ready_ = nullptr;
  };

  DeviceDoor(std::string url_file, store::Store& store);

  const std::string url_file_;
  std::string url_;
  SystemClock clock_;
  const std::shared_ptr<VerifiedBlobs> blobs_;
  Gate gate_;
  std::unique_ptr<HttpDoor> door_;
  bool is_closed_ = false;
};

}  // namespace galley::director
