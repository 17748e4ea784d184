#include "common/store/reapi/server/reapi_call.h"

#include <string_view>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/reapi/server/error_details.h"

namespace galley::store {
namespace {

constexpr absl::Duration kCallRetryDelay = absl::Milliseconds(100);
// Answers to who asks whether we are there, or what is missing: never refused for want of room.
constexpr size_t kSmallReplyBytes = 64 << 10;
// The memory of a stream while a piece of it waits, counted in such pieces: that piece, the one
// held back, those read ahead. Measured: 1.5 MiB for pieces of 256 KiB.
constexpr size_t kPiecesOfStream = 6;

size_t BytesHeldFor(const Step& step) {
  const bool is_stream = step.next == Step::Next::kContinue;
  return step.reply->size() * (is_stream ? kPiecesOfStream : 1);
}

// Without a copy: the slice owns the text.
grpc::ByteBuffer BufferOf(std::string text) {
  auto* const owned = new std::string(std::move(text));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* p) { delete static_cast<std::string*>(p); }, owned);
  return grpc::ByteBuffer(&slice, 1);
}

// The bytes of a message in one piece. A large one came in many, and is put together in memory that
// the thread keeps: fresh memory would cost as much again as the copy.
class WholeMessage {
 public:
  explicit WholeMessage(const grpc::ByteBuffer& buffer) {
    if (buffer.TrySingleSlice(&slice_).ok()) {
      bytes_ = ViewOf(slice_);
      return;
    }
    static thread_local std::string kept;
    kept.clear();
    kept.reserve(buffer.Length());
    std::vector<grpc::Slice> slices;
    is_ok_ = buffer.Dump(&slices).ok();
    for (const grpc::Slice& slice : slices) kept += ViewOf(slice);
    bytes_ = kept;
  }

  bool is_ok() const { return is_ok_; }
  // Valid as long as this, and until the thread takes another message.
  std::string_view bytes() const { return bytes_; }

 private:
  static std::string_view ViewOf(const grpc::Slice& slice) {
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }
  grpc::Slice slice_;
  std::string_view bytes_;
  bool is_ok_ = true;
};

}  // namespace

grpc::Status ToWire(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::Status told = ForPeers(status);
  bool has_details = false;
  told.ForEachPayload([&](absl::string_view, const absl::Cord&) { has_details = true; });
  return grpc::Status(static_cast<grpc::StatusCode>(told.code()), MessageOf(told),
                      has_details ? EncodeRpcStatus(told) : std::string());
}

bool OpenCalls::Add(const std::shared_ptr<ReapiCall>& call, size_t calls_max) {
  const base::MutexLock lock(mutex_);
  const bool fits = calls_.size() < calls_max;
  calls_.emplace(call.get(), call);  // one that is refused lives until it has ended, too
  return fits;
}

void OpenCalls::Remove(const ReapiCall* call) {
  std::shared_ptr<ReapiCall> removed;  // destroyed without the lock
  const base::MutexLock lock(mutex_);
  const auto at = calls_.find(call);
  if (at == calls_.end()) return;
  removed = std::move(at->second);
  calls_.erase(at);
}

void OpenCalls::Sweep(absl::Time now) {
  std::vector<std::shared_ptr<ReapiCall>> calls;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [key, call] : calls_) calls.push_back(call);
  }
  for (const std::shared_ptr<ReapiCall>& call : calls) call->Sweep(now);
}

void OpenCalls::Cancel(const std::vector<const void*>& calls) {
  std::vector<std::shared_ptr<ReapiCall>> found;
  {
    const base::MutexLock lock(mutex_);
    for (const void* call : calls) {
      const auto at = calls_.find(static_cast<const ReapiCall*>(call));
      if (at != calls_.end()) found.push_back(at->second);
    }
  }
  for (const std::shared_ptr<ReapiCall>& call : found) call->Cancel();
}

size_t OpenCalls::size() const {
  const base::MutexLock lock(mutex_);
  return calls_.size();
}

ReapiCall::ReapiCall(const Deps& deps, grpc::CallbackServerContext& context,
                     const CallLimits& limits)
    : deps_(deps),
      context_(context),
      limits_(limits),
      begun_(deps.clock.Monotonic()),
      active_(begun_) {}

void ReapiCall::Start(std::unique_ptr<CallHandler> handler) {
  handler_ = std::move(handler);
  const base::MutexLock lock(mutex_);
  ReadLocked();
}

void ReapiCall::Refuse(const absl::Status& status) {
  const base::MutexLock lock(mutex_);
  EndLocked(status);
}

bool ReapiCall::HasEnded() {
  const base::MutexLock lock(mutex_);
  return has_ended_;
}

void ReapiCall::ReadLocked() {
  if (!has_ended_) StartRead(&read_);
}

void ReapiCall::EndLocked(const absl::Status& status) {
  if (std::exchange(has_ended_, true)) return;
  if (absl::IsInternal(status) || absl::IsUnknown(status)) LogError("reapi: {}", status.ToString());
  Finish(ToWire(status));
}

template <typename AskHandler>
void ReapiCall::Post(AskHandler step) {
  const bool is_posted = deps_.pool.Post([self = shared_from_this(), step = std::move(step)] {
    if (!self->HasEnded()) self->Take(step(*self->handler_));
  });
  if (is_posted) return;
  const base::MutexLock lock(mutex_);
  EndLocked(BusyError("the server has too much to do", kCallRetryDelay));
}

void ReapiCall::OnReadDone(bool is_ok) {
  {
    const base::MutexLock lock(mutex_);
    if (has_ended_) return;
    active_ = deps_.clock.Monotonic();
  }
  if (!is_ok) return Post([](CallHandler& handler) { return handler.OnHalfClose(); });
  Post([buffer = std::exchange(read_, grpc::ByteBuffer())](CallHandler& handler) {
    const WholeMessage message(buffer);
    if (!message.is_ok())
      return Step{.status = absl::InvalidArgumentError("a message that cannot be read")};
    return handler.OnMessage(message.bytes());
  });
}

void ReapiCall::Take(Step step) {
  if (!step.commit.has_value()) return CarryOut(std::move(step));
  CommitBatch batch = *std::exchange(step.commit, std::nullopt);
  deps_.commits.Commit(std::move(batch), [self = shared_from_this(),
                                          step = std::move(step)](const absl::Status& committed) {
    self->CarryOut(committed.ok() ? step : Step{.status = committed});
  });
}

bool ReapiCall::TakeRoom(size_t bytes) {
  if (bytes <= kSmallReplyBytes) return true;
  const ReplyBudget::Outcome outcome = deps_.replies.Take(this, bytes, deps_.clock.Monotonic());
  if (!outcome.ended.empty()) deps_.calls.Cancel(outcome.ended);
  if (outcome.fits) return true;
  const base::MutexLock lock(mutex_);
  EndLocked(BusyError("replies that clients have not read yet fill the memory", kCallRetryDelay));
  return false;
}

void ReapiCall::CarryOut(Step step) {
  if (step.next == Step::Next::kContinue && !step.reply.has_value())
    return Post([](CallHandler& handler) { return handler.OnContinue(); });
  if (deps_.on_step) deps_.on_step();
  if (step.reply.has_value() && !TakeRoom(BytesHeldFor(step))) return;
  const base::MutexLock lock(mutex_);
  if (has_ended_) return deps_.replies.GiveBack(this);  // OnDone may have come before
  active_ = deps_.clock.Monotonic();
  if (step.next == Step::Next::kEnd && (!step.status.ok() || !step.reply.has_value()))
    return EndLocked(step.status);
  next_ = step.next;
  if (step.reply.has_value()) {
    write_ = BufferOf(*std::move(step.reply));
    if (step.next == Step::Next::kEnd) {
      has_ended_ = true;
      StartWriteAndFinish(&write_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      is_writing_ = true;
      StartWrite(&write_);
    }
  } else if (step.next == Step::Next::kRead) {
    ReadLocked();
  }
}

void ReapiCall::OnWriteDone(bool is_ok) {
  Step::Next next = Step::Next::kWait;
  deps_.replies.GiveBack(this);
  {
    const base::MutexLock lock(mutex_);
    is_writing_ = false;
    if (has_ended_) return;
    active_ = deps_.clock.Monotonic();
    if (!is_ok) return EndLocked(absl::CancelledError("the caller went away"));
    next = next_;
    if (next == Step::Next::kRead) ReadLocked();
  }
  if (next == Step::Next::kContinue)
    Post([](CallHandler& handler) { return handler.OnContinue(); });
}

void ReapiCall::OnCancel() {
  const base::MutexLock lock(mutex_);
  EndLocked(absl::CancelledError("the caller went away"));
}

void ReapiCall::Sweep(absl::Time now) {
  const base::MutexLock lock(mutex_);
  if (is_done_) return;
  if (now - active_ <= limits_.idle_max && now - begun_ <= limits_.whole_max) return;
  // A reply that nobody takes stands before whatever else is sent; so does one that ended the call.
  if (is_writing_ || has_ended_) {
    context_.TryCancel();
    return;
  }
  EndLocked(absl::DeadlineExceededError("the call took longer than this server lets one take"));
}

void ReapiCall::Cancel() {
  const base::MutexLock lock(mutex_);
  if (!is_done_) context_.TryCancel();
}

void ReapiCall::OnDone() {
  {
    const base::MutexLock lock(mutex_);
    is_done_ = true;
  }
  deps_.replies.GiveBack(this);
  const std::function<void()>& on_step = deps_.on_step;  // the server's
  // The handler may have files to close, and may be at work still: it ends with the last reference.
  deps_.pool.Post([self = shared_from_this()] {});
  deps_.calls.Remove(this);
  if (on_step) on_step();
}

}  // namespace galley::store
