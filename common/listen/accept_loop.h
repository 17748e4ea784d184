// AcceptLoop: the door of a server. It accepts connections, looks at what they say first without
// taking it, and hands over those that speak; so neither a flood of connections nor of silent ones
// can take the descriptors from which the rest of the process lives. After the hand-over nothing of
// it is in the way of the bytes.
//
// doorkeeper.h says which connections it refuses and which it closes. A connection that finds no
// room hears so (first_bytes.h, RefusalOf); a silent one is just closed. Should the process have no
// descriptor left all the same, one that is kept in reserve serves to accept connections and to
// close them. The log has one line when connections begin to be turned away, and one with the
// numbers when nobody was turned away for a second.
//
// A connection that was handed over is counted until its descriptor is closed: its number belongs
// to another socket then, or to none (fstat's inode). That is looked at each second, and before
// anybody is refused.
//
// Threads: one of its own, where hand_over is called, too; methods from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/listen/door_figures.h"
#include "common/listen/doorkeeper.h"

namespace galley::listen {

class AcceptLoop {
 public:
  struct Listener {
    FileDescriptor socket;  // listening, not blocking
    bool has_tls = false;
    std::function<void(int fd)> hand_over;  // takes the descriptor
  };
  struct Options {
    std::string name;  // in the log
    DoorLimits limits;
    // How long TCP keeps a connection whose peer takes nothing; 0: as the system has it.
    absl::Duration user_timeout = absl::ZeroDuration();
  };

  // `clock` outlives it.
  static std::unique_ptr<AcceptLoop> Make(const Options& options, Clock& clock);
  // Stops.
  virtual ~AcceptLoop() = default;

  // Once. RESOURCE_EXHAUSTED: no descriptor or thread is left for it.
  virtual absl::Status Start(std::vector<Listener> listeners) = 0;
  // Listens no more; closes what is silent. What was handed over stays. One thread.
  virtual void Stop() = 0;
  // A peer as gRPC names it ("ipv4:10.0.0.1:4711") has made a call. Cheap.
  virtual void NoteCall(std::string_view peer) = 0;
  virtual DoorFigures figures() const = 0;
  // Looks at deadlines and closed connections now; tests that move the clock.
  virtual void Look() = 0;
};

}  // namespace galley::listen
