// WorkerStream: one stream of a worker (the call Attach of proto/galley/v1/worker.proto). It uses
// gRPC's callback API and holds no thread, so that a director may have thousands of streams. A
// stream deletes itself when the call is over.
//
// The owner hears messages on a thread of the pool, one at a time and in order; the next message is
// read when the owner is done. Messages to the worker wait for the welcome, and are then sent in
// order, with sequence numbers.
// Threads: any. A stream may be used until Leave, under the lock that its owner takes in Leave.
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
  // The most messages that wait for a worker to read them. Beyond this the worker has to attach
  // again, and is then told everything again.
  static constexpr size_t kWaitingMax = 16'384;

  class Owner {
   public:
    virtual ~Owner() = default;
    // Called with the first message. OK: the stream was welcomed (Welcome). An error ends the
    // stream.
    virtual grpc::Status Join(WorkerStream& stream, const v1::FromWorker& first) = 0;
    // Called with each message, also the first. False: another stream has replaced this stream; the
    // worker repeats its messages there.
    virtual bool Hear(WorkerStream& stream, const v1::FromWorker& message) = 0;
    // Called when a stream that joined has no further message.
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
  // The worker of a stream that joined; set by the owner.
  std::string worker_id;
  bool is_heard = false;  // set by the owner under its lock: the owner is hearing a message

  // Sends the welcome, before all messages that wait. Called once.
  void Welcome(v1::ToWorker welcome);
  // Sends a message. False: dropped, because kWaitingMax messages wait for the worker to read them.
  bool Send(v1::ToWorker message);
  // Ends the stream; the worker gets CANCELLED.
  void HangUp();
  // True: the owner has not finished with the last message; the next message is read afterwards.
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
  bool is_broken_ GALLEY_GUARDED_BY(mutex_) = false;  // messages no longer arrive
  std::optional<grpc::Status> end_ GALLEY_GUARDED_BY(mutex_);
  bool has_finished_ GALLEY_GUARDED_BY(mutex_) = false;
};

// Returns a stream that ends at once with `status`. `over`: called after the stream was deleted.
WorkerCalls::Stream* RefuseStream(const grpc::Status& status, std::function<void()> over = nullptr);

}  // namespace galley::director
