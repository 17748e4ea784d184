// EventSink: takes the events of the session's threads: the executor slots, the stream, the
// signals. An event is applied at once, on the caller's thread.
// Threads: any.
#pragma once

#include <cstdint>

#include "worker/session/session_core.h"

namespace galley::worker {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // `stream`: the number of the stream, for Connected, Disconnected and Received. Never blocks for
  // long; may call the slots' methods.
  virtual void Take(SessionEvent event, uint64_t stream = 0) = 0;
};

}  // namespace galley::worker
