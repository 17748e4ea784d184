// DeviceFace: answers requests for cooked files, roots, blobs, records, sessions and changes: the
// HTTP of devices, browsers and tools (docs/http.md). It translates: DeviceCalls says what an
// answer is, VerifiedBlobs has the bytes, the door does the rest of HTTP.
//
// A request that waits for a cook ends with the first of these: the cook, the time that the client
// gives (WaitOf), the client's leaving, which cancels the call.
// Threads: as HttpFace. Calls that are not answered may outlive the face.
#pragma once

#include <memory>
#include <utility>

#include "director/serve/device_calls.h"
#include "director/serve/device_face/verified_blobs.h"
#include "director/serve/http/http_face.h"

namespace galley::director {

class DeviceFace final : public HttpFace {
 public:
  // `calls` outlives the face and its calls.
  DeviceFace(DeviceCalls& calls, std::shared_ptr<VerifiedBlobs> blobs)
      : calls_(calls), blobs_(std::move(blobs)) {}

  void Answer(HttpRequest request, HttpResponder responder) override;

 private:
  DeviceCalls& calls_;
  const std::shared_ptr<VerifiedBlobs> blobs_;
};

}  // namespace galley::director
