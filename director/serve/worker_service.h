// WorkerService: the gRPC face to which workers attach, and where people ask questions
// (proto/galley/v1/worker.proto). WorkerService knows streams, tokens and sequence numbers, and
// nothing of cooking: messages go to `on_message`, in the order of their stream.
//
// Threads: Send, Expect and Disconnect from any thread. Callbacks run on a few threads of the
// service's own, for each stream one at a time and in order, never under a lock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "director/serve/attach_limits.h"
#include "director/serve/director_door.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class WorkerCalls;

class WorkerService {
 public:
  struct Callbacks {
    // Returns the welcome (first message to the worker), or an error that ends the stream.
    std::function<absl::StatusOr<v1::ToWorker>(const std::string& worker_id,
                                               const v1::FromWorker& first)>
        on_attach;
    // May wait for its turn. Then `is_present` says whether the message still counts: false: the
    // worker has attached again, or another process has its name. The next worker under that name
    // is told of (on_attach) when this call has returned.
    std::function<void(const std::string& worker_id, const v1::FromWorker& message,
                       absl::FunctionRef<bool()> is_present)>
        on_message;
    std::function<void(const std::string& worker_id)> on_detach;
    // May take its time. Stop waits for it.
    std::function<absl::StatusOr<v1::PackageAnswer>(const v1::PackageQuestion& question)>
        on_question;
    // Sends the bytes that a worker without files asks for, in pieces; `send` returns false: the
    // worker takes no more. An error ends the call.
    std::function<absl::Status(const std::string& worker_id, const v1::FetchRequest& request,
                               const std::function<bool(const v1::FetchPiece&)>& send)>
        on_fetch;
    std::function<absl::StatusOr<v1::FindMissingAnswer>(const v1::FindMissingRequest& request)>
        on_find_missing;
    // Takes the blobs that a worker brings; `next` returns the next piece, or false: there is none.
    // Returns how many bytes were new to the store.
    std::function<absl::StatusOr<uint64_t>(const std::string& worker_id,
                                           const std::function<bool(v1::UploadPiece&)>& next)>
        on_upload;
    // Says whether a launched worker, which is attached, may have another certificate. Null: it
    // may.
    std::function<absl::Status(const std::string& worker_id)> may_renew;
  };

  // Opens a door of its own (director_door.h). `expected`: worker -> token, for workers that may
  // attach at once. `limits`: for workers that come by themselves.
  static absl::StatusOr<std::unique_ptr<WorkerService>> Start(
      const std::string& socket_path, Callbacks callbacks,
      const std::map<std::string, std::string>& expected = {},
      const AttachLimits::Options& limits = {});
  // Starts behind an open door, which outlives the service: one service at a time.
  static std::unique_ptr<WorkerService> StartBehind(
      DirectorDoor& door, Callbacks callbacks, const std::map<std::string, std::string>& expected);
  virtual ~WorkerService() = default;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // The calls for another door; live as long as the service.
  virtual WorkerCalls& calls() = 0;
  // Lets any worker attach with this token, unless its id is one that launchers give.
  virtual void ExpectForeign(const std::string& token,
                             std::function<bool(std::string_view worker_id)> is_reserved) = 0;
  // Lets a worker of this id attach with this token.
  virtual void Expect(const std::string& worker_id, const std::string& token) = 0;
  // Queues a message, after the welcome; drops it when the worker is not attached (the worker
  // reports its whole state when it comes back). A worker is attached as soon as on_attach is asked
  // for its welcome.
  virtual void Send(const std::string& worker_id, v1::ToWorker message) = 0;
  // Returns the peer of the worker's stream in gRPC's form; empty: the worker has no stream.
  virtual std::string ComesFrom(const std::string& worker_id) = 0;
  // Ends the calls that were silent for too long: streams that never said who they are, and uploads
  // that stopped. `now`: monotonic; called now and then.
  virtual void EndSilent(absl::Time now) = 0;
  // Returns the workers with a message that waits for a thread, or for its turn in on_message.
  // Their later messages lie unread: nothing can be heard of these workers until that message has
  // had its turn.
  virtual std::vector<std::string> NotHeardOut() = 0;
  // Says whether the worker has a stream.
  virtual bool IsAttached(const std::string& worker_id) = 0;
  // Ends the stream: a worker that lives attaches again.
  virtual void HangUp(const std::string& worker_id) = 0;
  // Ends the stream and forgets the token.
  virtual void Disconnect(const std::string& worker_id) = 0;
  // Ends all streams and waits for their callbacks, which may still call the methods above.
  // Afterwards no callback comes. The destructor calls Stop too, but an owner whose callbacks read
  // the pointer to the service must call Stop before the pointer changes.
  virtual void Stop() = 0;
};

}  // namespace galley::director
