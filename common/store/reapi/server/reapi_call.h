// ReapiCall: one call on the wire. It carries out the steps of the call's handler (call_handler.h):
// reads messages, sends replies, waits for commits, ends. Includes gRPC headers: only for .cc files
// of this folder.
//
// gRPC's own threads only pass messages on; handlers run in the pool, one step of a call at a time.
// The next message is read after the last was handled, so a client that sends faster than the disk
// takes fills HTTP/2's window and waits. A call ends when its handler says so, when its client goes
// away, or when it is overdue.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/reapi/server/call_handler.h"
#include "common/store/reapi/server/group_commit.h"
#include "common/store/reapi/server/methods.h"
#include "common/store/reapi/server/reply_budget.h"
#include "common/store/reapi/server/task_pool.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/slice.h"

namespace galley::store {

class ReapiCall;

// OpenCalls: the open calls.
// Threads: any.
class OpenCalls {
 public:
  // False: `calls_max` calls are open.
  bool Add(const std::shared_ptr<ReapiCall>& call, size_t calls_max);
  void Remove(const ReapiCall* call);
  // Ends overdue calls.
  void Sweep(absl::Time now);
  // Cancels those of `calls` that are still open.
  void Cancel(const std::vector<const void*>& calls);
  size_t size() const;

 private:
  mutable base::Mutex mutex_;
  std::map<const ReapiCall*, std::shared_ptr<ReapiCall>> calls_ GALLEY_GUARDED_BY(mutex_);
};

class ReapiCall final : public grpc::ServerGenericBidiReactor,
                        public std::enable_shared_from_this<ReapiCall> {
 public:
  struct Deps {
    TaskPool& pool;
    GroupCommit& commits;
    OpenCalls& calls;
    ReplyBudget& replies;
    Clock& clock;
    const std::function<void()>& on_step;  // as in ReapiServerOptions
  };
  ReapiCall(const Deps& deps, grpc::CallbackServerContext& context, const CallLimits& limits);

  // Call exactly one of Start and Refuse, once. gRPC owns the call from then on.
  void Start(std::unique_ptr<CallHandler> handler);
  void Refuse(const absl::Status& status);

  // Ends the call if it is overdue.
  void Sweep(absl::Time now);
  // Ends the call, even if a reply still waits.
  void Cancel();

  void OnReadDone(bool is_ok) override;
  void OnWriteDone(bool is_ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Runs `step`, which asks the handler, in the pool.
  template <typename AskHandler>
  void Post(AskHandler step);
  void Take(Step step);
  void CarryOut(Step step);
  bool HasEnded();
  // False: the reply has no room in the budget; the call was ended.
  bool TakeRoom(size_t bytes);
  void ReadLocked() GALLEY_REQUIRES(mutex_);
  void EndLocked(const absl::Status& status) GALLEY_REQUIRES(mutex_);

  const Deps deps_;
  grpc::CallbackServerContext& context_;
  const CallLimits limits_;
  const absl::Time begun_;
  std::unique_ptr<CallHandler> handler_;
  // Buffers of the running operation.
  grpc::ByteBuffer read_, write_;

  base::Mutex mutex_;
  absl::Time active_ GALLEY_GUARDED_BY(mutex_);
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;  // no operation may begin on the wire
  bool is_done_ GALLEY_GUARDED_BY(mutex_) = false;    // context_ is gone soon
  bool is_writing_ GALLEY_GUARDED_BY(mutex_) = false;
  Step::Next next_ GALLEY_GUARDED_BY(mutex_) = Step::Next::kRead;  // after the reply was taken
};

// Returns the status for the wire, with its details.
grpc::Status ToWire(const absl::Status& status);

}  // namespace galley::store
