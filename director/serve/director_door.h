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
  // `clients` outlives the door; null: a command hosts the director, which takes no clients.
  // `hosted`, which outlives the door, says how the cook of such a director gets on; null: nobody
  // does.
  static absl::StatusOr<std::unique_ptr<DirectorDoor>> Open(const std::string& socket_path,
                                                            ClientCalls* clients = nullptr,
                                                            StatusCalls* hosted = nullptr);
  // Ends all calls, and waits for their end.
  virtual ~DirectorDoor() = default;

  // Takes the socket away, so that nobody finds this director any more. Calls go on.
  virtual void Withdraw() = 0;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // Lets `calls` answer workers and questions from now on. Until then, and after Close, workers get
  // UNAVAILABLE, and try again; questions get FAILED_PRECONDITION: no cook runs. One at a time.
  virtual void Admit(WorkerCalls* calls) = 0;
  // Sends no further call to `calls`, if it was admitted; another WorkerCalls stays.
  virtual void Close(WorkerCalls* calls) = 0;
  // Waits until no call is under way there. REQUIRES: Close.
  virtual void AwaitCalls() = 0;
  // Answers like the call of that name.
  virtual absl::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
};

}  // namespace galley::director
