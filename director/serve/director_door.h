// DirectorDoor: the Unix socket of a director, and the gRPC server behind it. The door is open for
// the life of the object; the WorkerCalls behind it may change.
//
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class ClientCalls;  // client_calls.h
class StatusCalls;  // client_calls.h
class WorkerCalls;  // worker_calls.h

class DirectorDoor {
 public:
  // Listens on a Unix socket. If the path is too long for a socket (107 bytes), a short path under
  // the system's temporary folder is used; address() returns it, and `socket_path` is a link to it.
  // `clients` and `hosted` outlive the door. `clients`: answers clients; null: a command hosts the
  // director, which takes no clients. `hosted`: tells the status of a hosted cook; may be null.
  static absl::StatusOr<std::unique_ptr<DirectorDoor>> Open(const std::string& socket_path,
                                                            ClientCalls* clients = nullptr,
                                                            StatusCalls* hosted = nullptr);
  // Ends all calls, and waits for their end.
  virtual ~DirectorDoor() = default;

  // Removes the socket, so that nobody finds this director any more. Calls go on.
  virtual void RemoveSocket() = 0;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // Passes further calls of workers and questions to `calls`, in place of the earlier WorkerCalls.
  // Without a WorkerCalls, workers get UNAVAILABLE and try again; questions get
  // FAILED_PRECONDITION.
  virtual void SetWorkerCalls(WorkerCalls* calls) = 0;
  // Passes no further calls to `calls`. Does nothing if another WorkerCalls is set.
  virtual void RemoveWorkerCalls(WorkerCalls* calls) = 0;
  // Waits until every call that was passed on has ended. REQUIRES: RemoveWorkerCalls was called.
  virtual void AwaitCalls() = 0;
  // Answers a question as the RPC Ask does.
  virtual absl::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
};

}  // namespace galley::director
