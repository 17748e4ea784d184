// WorkerService: the gRPC service to which workers attach, and which answers questions about
// packages (proto/galley/v1/worker.proto). WorkerService knows streams, tokens and sequence
// numbers, but nothing about cooking: messages go to `on_message`, in the order of their stream.
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
    // Returns the welcome, the first message to the worker, or an error, which ends the stream.
    std::function<absl::StatusOr<v1::ToWorker>(const std::string& worker_id,
                                               const v1::FromWorker& first)>
        on_attach;
    // May block. Then `is_present` says whether the message still counts; false: the worker has
    // attached again, or another process has its name. on_attach is called for the new stream only
    // after this call has returned.
    std::function<void(const std::string& worker_id, const v1::FromWorker& message,
                       absl::FunctionRef<bool()> is_present)>
        on_message;
    std::function<void(const std::string& worker_id)> on_detach;
    // May take long; Stop waits for it.
    std::function<absl::StatusOr<v1::PackageAnswer>(const v1::PackageQuestion& question)>
        on_question;
    // Sends the bytes that a worker without the project's files asks for, in pieces. `send` returns
    // false: the worker takes no more. An error ends the call.
    std::function<absl::Status(const std::string& worker_id, const v1::FetchRequest& request,
                               const std::function<bool(const v1::FetchPiece&)>& send)>
        on_fetch;
    std::function<absl::StatusOr<v1::FindMissingAnswer>(const v1::FindMissingRequest& request)>
        on_find_missing;
    // Stores the blobs that a worker uploads. `next` reads the next piece; false: there is none.
    // Returns how many bytes were new to the store.
    std::function<absl::StatusOr<uint64_t>(const std::string& worker_id,
                                           const std::function<bool(v1::UploadPiece&)>& next)>
        on_upload;
    // Says whether an attached, launched worker may get another certificate. Null: it may.
    std::function<absl::Status(const std::string& worker_id)> may_renew;
  };

  // Opens a DirectorDoor, which the service owns. `expected`: worker -> token, for workers that may
  // attach at once. `limits`: for workers that no launcher started.
  static absl::StatusOr<std::unique_ptr<WorkerService>> Start(
      const std::string& socket_path, Callbacks callbacks,
      const std::map<std::string, std::string>& expected = {},
      const AttachLimits::Options& limits = {});
  // Starts behind an open door, which outlives the service: one service at a time.
  static std::unique_ptr<WorkerService> StartBehind(
      DirectorDoor& door, Callbacks callbacks, const std::map<std::string, std::string>& expected);
  virtual ~WorkerService() = default;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // Returns the calls, for a further door; valid as long as the service.
  virtual WorkerCalls& calls() = 0;
  // Lets any worker attach with this token, except under ids that are reserved for launchers.
  virtual void ExpectForeign(const std::string& token,
                             std::function<bool(std::string_view worker_id)> is_reserved) = 0;
  // Lets a worker of this id attach with this token.
  virtual void Expect(const std::string& worker_id, const std::string& token) = 0;
  // Queues a message, to follow the welcome. Drops the message if the worker is not attached: a
  // worker reports its whole state when it attaches again. A worker counts as attached from the
  // call of on_attach on.
  virtual void Send(const std::string& worker_id, v1::ToWorker message) = 0;
  // Returns the peer of the worker's stream in gRPC's form; empty: the worker has no stream.
  virtual std::string PeerOfWorker(const std::string& worker_id) = 0;
  // Ends calls that were silent for too long: streams without a first message, and uploads that
  // stopped. Called now and then. `now`: monotonic.
  virtual void EndSilent(absl::Time now) = 0;
  // Returns the workers with a message that waits for a thread or is in on_message. Their next
  // messages are not read until then, so silence of these workers means nothing.
  virtual std::vector<std::string> WorkersWithUnreadMessages() = 0;
  // Says whether the worker has a stream.
  virtual bool IsAttached(const std::string& worker_id) = 0;
  // Ends the worker's stream; a living worker attaches again.
  virtual void HangUp(const std::string& worker_id) = 0;
  // Ends the worker's stream, and forgets its token and certificates.
  virtual void Disconnect(const std::string& worker_id) = 0;
  // Ends all calls and waits for their callbacks, which may still call the methods above. No
  // callback runs afterwards. The destructor calls Stop too, but an owner whose callbacks read the
  // pointer to the service must call Stop before the pointer changes.
  virtual void Stop() = 0;
};

}  // namespace galley::director
