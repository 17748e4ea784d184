// DirectorStream: attaches to the director, and again when the stream breaks; what comes goes to
// the sink with the stream's number. While nobody listens at the address it waits, and there is no
// stream.
// Threads: one of its own; Send, Finish and Stop from the session's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/wire/client_tls.h"
#include "galley/v1/worker.pb.h"
#include "worker/session/event_sink.h"

namespace galley::worker {

class DirectorStream {
 public:
  // `is_far`: as for wire::OpenChannel.
  DirectorStream(const std::string& address, const wire::ClientTls& tls, bool is_far,
                 EventSink* events);
  ~DirectorStream();

  // Dropped unless `stream` is the present one: a broken stream's messages go with the next Attach.
  void Send(uint64_t stream, const v1::FromWorker& message);
  // Ends this stream, if it is the present one; Disconnected follows, and a new one.
  void HangUp(uint64_t stream);
  // From the next stream on.
  void UseTls(const wire::ClientTls& tls);
  // Closes our side and gives the director a moment to close its own.
  void Finish(absl::Duration patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace galley::worker
