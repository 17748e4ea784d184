// WorkerStream: one stream of a worker (the call Attach of proto/galley/v1/worker.proto), by gRPC's
// callbacks: the stream holds no thread, so that a director may have thousands of streams. A stream
// deletes itself when the call is over.
//
// The owner hears messages on a thread of the pool, one at a time and in order; the next message is
// read when the owner is done. Messages to the worker wait until the welcome goes out, and then go
// in order, with their numbers.
// Threads: any. A stream may be used until Leave, and under the lock that its owner takes there.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/task_pool.h"
#include "common/wire/conversation.h"
#include "director/serve/worker_calls.h"

namespace galley::director {

class WorkerStream final : public WorkerCalls::Stream {
 public:
  // Messages that wait for a worker to read them. A worker that reads nothing is to attach again,
  // which says everything anew.
  static constexpr size_t kWaitingMax = 16'384;

  class Owner {
   public:
    virtual ~Owner() = default;
    // Called with the first message. OK: the stream was welcomed (Welcome). An error ends the
    // stream.
    virtual grpc::Status Join(WorkerStream& stream, const v1::FromWorker& first) = 0;
    // Called with each message, the first included. False: another stream took the place of this
    // stream, whose words will be repeated there.
    virtual bool Hear(WorkerStream& stream, const v1::FromWorker& message) = 0;
    // A stream that joined brings no further message.
    virtual void Leave(WorkerStream& stream) = 0;
    // The last call: the stream is about to be deleted.
    virtual void Over(WorkerStream& stream) = 0;
  };

  // `owner` and `pool` outlive the call. `over`: called after the stream was deleted.
  WorkerStream(grpc::CallbackServerContext* context, Owner& owner, base::TaskPool& pool,
               std::function<void()> over);
  // Begins to read.
  void Start() { StartRead(&message_); }

  grpc::CallbackServerContext& context() { return *context_; }
  std::string peer() const { return context_->peer(); }
  // The worker of a stream that joined; the owner sets it.
  std::string worker_id;
  bool is_heard = false;  // set by the owner under its lock: the owner is hearing a message

  // Goes before everything that was sent so far. Called once.
  void Welcome(v1::ToWorker welcome);
  // False: kWaitingMax messages wait for the worker to read them, and this message is dropped.
  bool Send(v1::ToWorker message);
  // Ends the stream: the worker hears that it was cancelled.
  void HangUp();
  // True: the owner has not finished with the last message; nothing more is read until then.
  bool has_message() const { return has_message_; }

 private:
  ~WorkerStream() override = default;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

  void Take();
  void End(grpc::Status status);
  void EndBroken();
  void WriteNext() GALLEY_REQUIRES(mutex_);
  wire::Conversation::Heard Receive();
  bool IsFinishDue() GALLEY_REQUIRES(mutex_);

  grpc::CallbackServerContext* const context_;
  Owner& owner_;
  base::TaskPool& pool_;
  std::function<void()> over_;
  SystemClock clock_;

  v1::FromWorker message_;  // being read, or taken
  std::atomic<bool> has_message_ = false;
  bool has_joined_ = false;

  base::Mutex mutex_;
  wire::Conversation conversation_ GALLEY_GUARDED_BY(mutex_);
  std::deque<v1::ToWorker> waiting_ GALLEY_GUARDED_BY(mutex_);
  v1::ToWorker writing_;  // valid while is_writing_
  bool is_welcomed_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_writing_ GALLEY_GUARDED_BY(mutex_) = false;
  bool is_broken_ GALLEY_GUARDED_BY(mutex_) = false;  // a written message no longer arrives
  std::optional<grpc::Status> end_ GALLEY_GUARDED_BY(mutex_);
  bool has_finished_ GALLEY_GUARDED_BY(mutex_) = false;
};

// Returns a stream that ends at once, unread. `over`: called after the stream was deleted.
WorkerCalls::Stream* RefuseStream(const grpc::Status& status, std::function<void()> over = nullptr);

}  // namespace galley::director
