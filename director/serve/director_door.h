// DirectorDoor: the socket at which a director is found, and the gRPC server behind it. It stays
// open for as long as the object lives; who answers behind it may come and go.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class ClientCalls;  // client_calls.h
class StatusCalls;  // likewise
class WorkerCalls;  // worker_calls.h

class DirectorDoor {
 public:
  // Listens on a Unix socket. The path may be too long for one (107 bytes): then a short one under
  // the system's temporary folder is used; address() tells, and `socket_path` is a link to it.
  // `clients`: outlives it; null: of a director that is hosted by a command, and takes no clients.
  // `hosted`, which outlives it, says how the cook of such a one gets on; null: nobody does.
  static absl::StatusOr<std::unique_ptr<DirectorDoor>> Open(const std::string& socket_path,
                                                            ClientCalls* clients = nullptr,
                                                            StatusCalls* hosted = nullptr);
  // Ends all calls, and waits for them.
  virtual ~DirectorDoor() = default;

  // Takes the socket away, so that nobody finds this director any more. Calls go on.
  virtual void Withdraw() = 0;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // From now on `calls` answers workers and questions. Until then, and after Close, workers hear
  // UNAVAILABLE, and try again; questions FAILED_PRECONDITION: no cook runs. One at a time.
  virtual void Admit(WorkerCalls* calls) = 0;
  // No further call comes to `calls`, if it was admitted; another one stays.
  virtual void Close(WorkerCalls* calls) = 0;
  // Waits until none is under way there. REQUIRES: Close.
  virtual void AwaitCalls() = 0;
  // As the call of that name.
  virtual absl::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
};

}  // namespace galley::director
