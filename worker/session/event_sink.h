// EventSink: where the session's threads bring what happened: the executor slots, the stream, the
// signals. Applied at once, on the caller's thread.
// Threads: any.
#pragma once

#include <cstdint>

#include "worker/session/session_core.h"

namespace galley::worker {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // `stream`: of which stream, for Connected, Disconnected and Received. Never blocks for long; may
  // call the slots' methods.
  virtual void Take(SessionEvent event, uint64_t stream = 0) = 0;
};

}  // namespace galley::worker
