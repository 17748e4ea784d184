// ConnectionLoop: the connections of one thread of an HttpDoor: reads requests, asks the face,
// sends the answers. The only user of Boost.Asio, whose coroutines wait for sockets and for others.
//
// A connection is two coroutines: one reads all the time, as far as there is room, so that it is
// known at once when the client leaves; the other takes request after request and answers each
// before it takes the next (pipelining in order).
//
//   shaking -> reading -> asked -> sending -> reading ...        -> lingering
//      TLS      a request   the face   the answer, or streaming      reads what is left, to be sure
//                                                                    that the answer arrives
//
// A client that closes its side while its answer is awaited has left, as nginx has it; one that
// does so before its answer is sent, but after it was given, gets the answer.
//
// Threads: its own; the methods are for any. Callbacks of the loop's face, streams and responders
// run on the loop's thread, reads of blobs on the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/task_pool.h"
#include "common/http/request_checks.h"
#include "common/wire/tls_pair.h"
#include "director/serve/http/access_check.h"
#include "director/serve/http/http_face.h"
#include "director/serve/http/http_figures.h"

namespace galley::director {

struct HttpDoorLimits {
  size_t connections_max = 4096;
  absl::Duration request_time = absl::Seconds(20);  // from its first byte to its last; TLS first
  absl::Duration idle_time = absl::Seconds(75);     // between two requests
  absl::Duration send_time = absl::Seconds(60);     // in which the client takes nothing
  absl::Duration linger_time = absl::Seconds(2);
  absl::Duration comment_period = absl::Seconds(15);  // of an event stream without events
  absl::Duration stop_time = absl::Seconds(2);        // for answers that are being sent
  uint64_t coded_bytes_max = 64 << 20;  // bodies that are coded at a time; others stay uncoded
};

class ConnectionLoop {
 public:
  struct Options {
    http::RequestRules request;
    AccessRules access;
    HttpDoorLimits limits;  // connections_max: of this loop
  };
  // The objects outlive the loop's thread.
  struct Deps {
    HttpFace* face = nullptr;
    Clock* clock = nullptr;
    base::TaskPool* pool = nullptr;
    HttpDoorCounters* counters = nullptr;
    std::shared_ptr<const wire::TlsPair> tls;  // null: no TLS
  };
  using Take = std::function<void(FileDescriptor socket, std::string peer)>;

  // RESOURCE_EXHAUSTED: no descriptor or thread is left; INVALID_ARGUMENT: OpenSSL does not take
  // the certificate.
  static absl::StatusOr<std::unique_ptr<ConnectionLoop>> Start(Options options, Deps deps);
  // Stops, if nobody has.
  virtual ~ConnectionLoop() = default;

  // Serves a connection. With too many of them the one that is idle the longest makes room;
  // without an idle one the new one gets a 503.
  virtual void Serve(FileDescriptor socket, std::string peer) = 0;
  // Accepts connections of a listening socket until BeginStop; `take` is called on the loop's
  // thread.
  virtual void Accept(FileDescriptor listening, Take take) = 0;
  // Checks deadlines now. The loop does it each second by itself; for tests that move the clock.
  // REQUIRES: nobody has called BeginStop.
  virtual void Look() = 0;
  // Ends what is idle, asked or streamed: 503 for who waits. Answers that are being sent may go on
  // for the stop_time.
  virtual void BeginStop() = 0;
  // Waits until all have ended. REQUIRES: BeginStop.
  virtual void Join() = 0;
};

}  // namespace galley::director
