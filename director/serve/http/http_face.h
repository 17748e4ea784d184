// HttpFace: decides what a request is answered with. HttpDoor has the sockets; a face has none, and
// knows nothing of ranges, codings and preconditions.
#pragma once

#include "director/serve/http/http_answer.h"
#include "director/serve/http/http_request.h"
#include "director/serve/http/http_responder.h"

namespace galley::director {

class HttpFace {
 public:
  virtual ~HttpFace() = default;
  // Answers `request` by `responder`, at once or later. Must not block: other connections wait.
  // Threads: several at a time. The responder may outlive the door.
  virtual void Answer(HttpRequest request, HttpResponder responder) = 0;
};

}  // namespace galley::director
