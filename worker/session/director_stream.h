// DirectorStream: attaches to the director, and attaches again when the stream breaks. Messages go
// to the sink with the stream's number. While nobody listens at the address, DirectorStream waits,
// and there is no stream.
// Threads: one of its own; Send, HangUp and Finish from the session's thread.
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
  // `is_far`: see wire::OpenChannel.
  DirectorStream(const std::string& address, const wire::ClientTls& tls, bool is_far,
                 EventSink* events);
  ~DirectorStream();

  // Sends the message if `stream` is the present stream. Otherwise drops the message: the next
  // Attach repeats the messages of a broken stream.
  void Send(uint64_t stream, const v1::FromWorker& message);
  // Ends the stream, if it is the present stream; Disconnected follows, and a new stream.
  void HangUp(uint64_t stream);
  // Takes effect from the next stream on.
  void UseTls(const wire::ClientTls& tls);
  // Closes our side and gives the director a moment to close its own.
  void Finish(absl::Duration patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace galley::worker
