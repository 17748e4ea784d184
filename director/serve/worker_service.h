// WorkerService: the gRPC face that workers attach to, and that people's questions come to
// (proto/galley/v1/worker.proto). It knows streams, tokens, sequence numbers and nothing of
// cooking: messages go to `on_message`, in the order of their stream.
//
// Threads: Send, Expect and Disconnect from any thread. Callbacks come on a few threads of the
// service's own, those of one stream one at a time and in order, never under a lock.
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
    // Answers the welcome (first message to the worker), or an error that ends the stream.
    std::function<absl::StatusOr<v1::ToWorker>(const std::string& worker_id,
                                               const v1::FromWorker& first)>
        on_attach;
    // May wait for its turn. When that has come, `is_present` says whether the message still
    // counts: false: the worker has attached again, or another process has its name. Whoever
    // attaches next under that name is told of (on_attach) when this has returned.
    std::function<void(const std::string& worker_id, const v1::FromWorker& message,
                       absl::FunctionRef<bool()> is_present)>
        on_message;
    std::function<void(const std::string& worker_id)> on_detach;
    // May take its time. Stop waits for it.
    std::function<absl::StatusOr<v1::PackageAnswer>(const v1::PackageQuestion& question)>
        on_question;
    // The bytes that a worker without files asks for, in pieces; false: it takes no more. An error
    // ends the call.
    std::function<absl::Status(const std::string& worker_id, const v1::FetchRequest& request,
                               const std::function<bool(const v1::FetchPiece&)>& send)>
        on_fetch;
    std::function<absl::StatusOr<v1::FindMissingAnswer>(const v1::FindMissingRequest& request)>
        on_find_missing;
    // The blobs that it brings; `next` has the next piece, false: there is none. Returns how many
    // bytes were new to the store.
    std::function<absl::StatusOr<uint64_t>(const std::string& worker_id,
                                           const std::function<bool(v1::UploadPiece&)>& next)>
        on_upload;
    // Whether a launched worker, which is attached, may have another certificate. Null: it may.
    std::function<absl::Status(const std::string& worker_id)> may_renew;
  };

  // Opens a door of its own (director_door.h). `expected`: worker -> token, of those that may
  // attach at once. `limits`: of those that come by themselves.
  static absl::StatusOr<std::unique_ptr<WorkerService>> Start(
      const std::string& socket_path, Callbacks callbacks,
      const std::map<std::string, std::string>& expected = {},
      const AttachLimits::Options& limits = {});
  // Behind a door that is open, and outlives it: one service at a time.
  static std::unique_ptr<WorkerService> StartBehind(
      DirectorDoor& door, Callbacks callbacks, const std::map<std::string, std::string>& expected);
  virtual ~WorkerService() = default;

  virtual const std::string& address() const = 0;  // "unix:/..."
  // For another door; lives as long as this.
  virtual WorkerCalls& calls() = 0;
  // Any worker may attach with this token, but under an id that launchers give.
  virtual void ExpectForeign(const std::string& token,
                             std::function<bool(std::string_view worker_id)> is_reserved) = 0;
  // A worker of this id may attach with this token.
  virtual void Expect(const std::string& worker_id, const std::string& token) = 0;
  // Queues a message, behind the welcome; dropped when the worker is not attached (it reports its
  // whole state when it comes back). It is attached as soon as on_attach is asked for its welcome.
  virtual void Send(const std::string& worker_id, v1::ToWorker message) = 0;
  // Where its stream comes from, as gRPC says it; empty: it has none.
  virtual std::string ComesFrom(const std::string& worker_id) = 0;
  // Ends the calls that said nothing for too long: streams that never said who they are, and
  // uploads that stopped. `now`: monotonic; every now and then.
  virtual void EndSilent(absl::Time now) = 0;
  // Those of which a message is here that waits for a thread, or in on_message for its turn. What
  // else they said meanwhile lies unread: nothing can be heard of them until it has had its turn.
  virtual std::vector<std::string> NotHeardOut() = 0;
  // Whether the worker has a stream.
  virtual bool IsAttached(const std::string& worker_id) = 0;
  // Ends the stream: a worker that lives attaches again.
  virtual void HangUp(const std::string& worker_id) = 0;
  // Ends the stream and forgets the token.
  virtual void Disconnect(const std::string& worker_id) = 0;
  // Ends all streams and waits for their callbacks, which may still call the methods above.
  // Afterwards no callback comes. The destructor does it too, but who holds the service in a
  // pointer that callbacks read must call Stop before that pointer changes.
  virtual void Stop() = 0;
};

}  // namespace galley::director
