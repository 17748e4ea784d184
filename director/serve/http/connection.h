// Connection: a client of a loop, with the client's requests and their answers. connection_loop.h
// has the states.
// Threads: the loop's own.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "common/base/file.h"
#include "director/serve/http/loop_parts.h"
#include "director/serve/http/transport.h"

namespace galley::director {

class Connection {
 public:
  // Serves the client until the client or the loop ends it, and calls `on_end` then, with what was
  // thrown, if anything was. null: the system cannot watch another socket. `transport` is that of
  // `socket`; `parts` outlives the connection, and whoever calls holds it until `on_end`.
  static std::shared_ptr<Connection> Start(LoopParts& parts, FileDescriptor socket,
                                           std::unique_ptr<Transport> transport, std::string peer,
                                           std::function<void(std::exception_ptr)> on_end);
  virtual ~Connection() = default;

  // Since when the connection has been idle, without a byte of a request, or in the handshake of
  // TLS, where a client that is silent must not keep others out. nullopt: it is not idle.
  virtual std::optional<absl::Time> idle_since() const = 0;
  // Checks the deadline.
  virtual void Look(absl::Time now) = 0;
  // Wakes the connection, which then sees that the loop is stopping.
  virtual void NoteStop() = 0;
  // Ends the connection at once.
  virtual void Close() = 0;
};

}  // namespace galley::director
