// DirectorDoor: the socket at which a director is found, and the gRPC server behind the socket. The
// door stays open for the life of the object; the parts that answer behind the door may come and
// go.
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
  // `clients` and `hosted` outlive the door. `clients`: null if a command hosts the director, which
  // then takes no clients. `hosted`: tells the status of the hosted cook; null: nothing does.
  static absl::StatusOr<std::unique_ptr<DirectorDoor>> Open(const std::string& socket_path,
                                                            ClientCalls* clients = nullptr,
                                                            StatusCalls* hosted = nullptr);
  // Ends all calls, and waits for their end.
  virtual ~DirectorDoor() = default;

  // Takes the socket away, so that nobody finds this director any more. Calls go on.
  virtual void Withdraw() = 0;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // From now on `calls` answers workers and questions, in place of the WorkerCalls before. Without
  // a WorkerCalls, workers get UNAVAILABLE and try again; questions get FAILED_PRECONDITION.
  virtual void Admit(WorkerCalls* calls) = 0;
  // Passes no further call to `calls`. Does nothing if another WorkerCalls is admitted.
  virtual void Close(WorkerCalls* calls) = 0;
  // Waits until every passed call has ended. REQUIRES: Close.
  virtual void AwaitCalls() = 0;
  // Answers like the RPC Ask.
  virtual absl::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
};

}  // namespace galley::director
