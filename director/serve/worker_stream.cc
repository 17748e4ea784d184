#include "director/serve/worker_stream.h"

#include <utility>

namespace galley::director {
namespace {

class RefusedStream final : public WorkerCalls::Stream {
 public:
  RefusedStream(const grpc::Status& status, std::function<void()> over) : over_(std::move(over)) {
    Finish(status);
  }

 private:
  ~RefusedStream() override = default;
  void OnDone() override {
    const std::function<void()> over = std::move(over_);
    delete this;
    if (over != nullptr) over();
  }

  std::function<void()> over_;
};

}  // namespace

WorkerCalls::Stream* RefuseStream(const grpc::Status& status, std::function<void()> over) {
  return new RefusedStream(status, std::move(over));
}

WorkerStream::WorkerStream(grpc::CallbackServerContext* context, Owner& owner, base::TaskPool& pool,
                           std::function<void()> over)
    : context_(context), owner_(owner), pool_(pool), over_(std::move(over)) {}

// Only one read is asked for at a time, and none while a task has the message.
void WorkerStream::OnReadDone(bool ok) {
  has_message_ = ok;
  pool_.Post([this, ok] { ok ? Take() : End(grpc::Status::OK); });
}

void WorkerStream::Take() {
  if (!has_joined_) {
    if (const grpc::Status joined = owner_.Join(*this, message_); !joined.ok()) return End(joined);
    has_joined_ = true;
    (void)Receive();
    if (!owner_.Hear(*this, message_)) return EndBroken();
  } else {
    const auto heard = Receive();
    const bool is_next = heard == wire::Conversation::Heard::kNext;
    // A stream says hello once: the hello was looked at already.
    if (heard == wire::Conversation::Heard::kBroken || (is_next && message_.has_hello()) ||
        (is_next && !owner_.Hear(*this, message_)))
      return EndBroken();
  }
  message_.Clear();
  has_message_ = false;
  StartRead(&message_);  // from here on another thread may have it
}

void WorkerStream::EndBroken() {
  HangUp();
  End({grpc::StatusCode::ABORTED, "messages were lost: attach again"});
}

wire::Conversation::Heard WorkerStream::Receive() {
  const base::MutexLock lock(mutex_);
  return conversation_.Receive(message_.sequence(), message_.acknowledged(), clock_.Monotonic());
}

void WorkerStream::Welcome(v1::ToWorker welcome) {
  const base::MutexLock lock(mutex_);
  waiting_.push_front(std::move(welcome));
  is_welcomed_ = true;
  WriteNext();
}

bool WorkerStream::Send(v1::ToWorker message) {
  const base::MutexLock lock(mutex_);
  if (is_broken_) return true;  // the end of the stream is on its way
  if (waiting_.size() >= kWaitingMax) return false;
  waiting_.push_back(std::move(message));
  WriteNext();
  return true;
}

void WorkerStream::HangUp() {
  {
    const base::MutexLock lock(mutex_);
    is_broken_ = true;
  }
  context_->TryCancel();
}

void WorkerStream::WriteNext() {
  if (is_broken_) waiting_.clear();
  if (is_writing_ || !is_welcomed_ || waiting_.empty()) return;
  writing_ = std::move(waiting_.front());
  waiting_.pop_front();
  writing_.set_sequence(conversation_.Send(clock_.Monotonic()));
  is_writing_ = true;
  StartWrite(&writing_);
}

void WorkerStream::OnWriteDone(bool ok) {
  std::optional<grpc::Status> end;
  {
    const base::MutexLock lock(mutex_);
    is_writing_ = false;
    is_broken_ |= !ok;
    WriteNext();
    if (IsFinishDue()) end = end_;
  }
  if (end.has_value()) Finish(*end);
}

// Returns true once.
bool WorkerStream::IsFinishDue() {
  if (is_writing_ || !end_.has_value()) return false;
  return !std::exchange(has_finished_, true);
}

// Messages that were sent before go out first.
void WorkerStream::End(grpc::Status status) {
  if (has_joined_) owner_.Leave(*this);
  bool is_due = false;
  {
    const base::MutexLock lock(mutex_);
    end_ = status;
    is_due = IsFinishDue();
  }
  if (is_due) Finish(std::move(status));
}

void WorkerStream::OnDone() {
  const std::function<void()> over = std::move(over_);
  owner_.Over(*this);
  delete this;
  if (over != nullptr) over();
}

}  // namespace galley::director
