#include "worker/session/director_stream.h"

#include <grpcpp/grpcpp.h>

#include <charconv>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/wire/channel.h"
#include "common/wire/tls_probe.h"
#include "common/wire/worker_protocol.h"
#include "galley/v1/worker.grpc.pb.h"
#include "worker/session/reconnect_pacing.h"

namespace galley::worker {
namespace {

using ClientStream = grpc::ClientReaderWriter<v1::FromWorker, v1::ToWorker>;

constexpr absl::Duration kProbeMax = absl::Seconds(2);

bool IsRefusal(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED ||
         code == grpc::StatusCode::FAILED_PRECONDITION ||
         code == grpc::StatusCode::INVALID_ARGUMENT;
}

}  // namespace

struct DirectorStream::Impl {
  EventSink* events = nullptr;
  std::string address;
  bool is_far = false;

  base::Mutex write_mutex;  // held while writing, so that Finish never races a Write
  ClientStream* writable GALLEY_GUARDED_BY(write_mutex) = nullptr;
  uint64_t writable_number GALLEY_GUARDED_BY(write_mutex) = 0;

  base::Mutex mutex;
  base::CondVar changed;
  grpc::ClientContext* context GALLEY_GUARDED_BY(mutex) = nullptr;
  uint64_t context_number GALLEY_GUARDED_BY(mutex) = 0;
  bool is_stopping GALLEY_GUARDED_BY(mutex) = false;
  bool has_ended GALLEY_GUARDED_BY(mutex) = false;
  std::shared_ptr<v1::Director::Stub> stub GALLEY_GUARDED_BY(mutex);  // for the next stream
  wire::ClientTls shown GALLEY_GUARDED_BY(mutex);                     // for the next stream

  void UseTls(const wire::ClientTls& tls) {
    std::shared_ptr<v1::Director::Stub> next =
        v1::Director::NewStub(wire::OpenChannel(address, tls, is_far));
    base::MutexLock lock(mutex);
    stub.swap(next);
    shown = tls;
  }

  // Waits, with pauses, until a director with an acceptable certificate is there: gRPC would try
  // endlessly, and not say why. False: the session is to end. A director that was there once may
  // get its certificate right again, so it is waited for.
  bool AwaitDirector(ReconnectPacing& pacing, uint64_t number) {
    if (address.starts_with("unix:")) return true;
    if (LacksTls()) {
      events->Take(Refused{"it speaks TLS, and this worker was given no authority: start it with "
                           "--tls-ca FILE"},
                   number);
      return false;
    }
    while (true) {
      wire::ClientTls tls;
      {
        base::MutexLock lock(mutex);
        if (is_stopping || shown.ca.empty()) return true;
        tls = shown;
      }
      const absl::Status probed = wire::ProbeTls(address, tls, kProbeMax);
      if (probed.ok()) return true;
      if (absl::IsFailedPrecondition(probed) && !has_attached) {
        events->Take(Refused{MessageOf(probed)}, number);
        return false;
      }
      if (std::exchange(last_said, MessageOf(probed)) != last_said)
        LogInfo("no director yet: {}", last_said);
      if (Pause(pacing.Next(false))) return true;
    }
  }

  // Whether the director speaks TLS though this worker was given no authority. Asked only once.
  // gRPC would wait endlessly.
  bool LacksTls() {
    if (!is_far || std::exchange(has_asked_for_tls, true)) return false;
    {
      base::MutexLock lock(mutex);
      if (!shown.ca.empty()) return false;
    }
    return wire::SpeaksTls(address, kProbeMax);
  }

  // Waits. True: the session is stopping.
  bool Pause(absl::Duration wait) {
    const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait);
    base::MutexLock lock(mutex);
    while (!is_stopping && std::chrono::steady_clock::now() < deadline)
      changed.WaitFor(mutex, deadline - std::chrono::steady_clock::now());
    return is_stopping;
  }

  std::thread thread;

  // Used by the stream's thread alone:
  std::string last_said;      // the last error of a director that did not take us
  absl::Duration come_again;  // a wait that a director asked for
  bool has_attached = false;  // some director has taken us
  bool has_asked_for_tls = false;

  // The wait that a director asked for; a director that asks for none gives 0.
  static absl::Duration ComeAgainOf(const grpc::ClientContext& context) {
    const auto& metadata = context.GetServerTrailingMetadata();
    const auto told = metadata.find(wire::kComeAgainMs);
    int64_t ms = 0;
    if (told != metadata.end())
      std::from_chars(told->second.data(), told->second.data() + told->second.size(), ms);
    return absl::Milliseconds(ms);
  }

  bool RunOnce(uint64_t number) {
    std::shared_ptr<v1::Director::Stub> own_stub;  // outlives the call
    grpc::ClientContext own_context;
    {
      base::MutexLock lock(mutex);
      if (is_stopping) return false;
      context = &own_context;
      context_number = number;
      own_stub = stub;
    }
    // Waits until somebody answers. A call that fails at once does not wait for a connection, and
    // gRPC looks only every 5 s at a connection without a waiting call: two late answers would take
    // more than the 10 s that a director waits for a survivor.
    own_context.set_wait_for_ready(true);
    const std::unique_ptr<ClientStream> stream = own_stub->Attach(&own_context);
    {
      base::MutexLock lock(write_mutex);
      writable = stream.get();
      writable_number = number;
    }
    events->Take(Connected{}, number);
    v1::ToWorker message;
    bool has_read = false;
    while (stream->Read(&message)) {
      has_read = true;
      events->Take(Received{std::move(message)}, number);
      message.Clear();
    }
    {
      base::MutexLock lock(write_mutex);
      writable = nullptr;
    }
    const grpc::Status status = stream->Finish();
    come_again = ComeAgainOf(own_context);
    {
      base::MutexLock lock(mutex);
      context = nullptr;
    }
    if (IsRefusal(status.error_code())) {
      events->Take(Refused{status.error_message()}, number);
    } else {
      events->Take(Disconnected{}, number);
      const bool is_new = std::exchange(last_said, status.error_message()) != last_said;
      if (has_read || (is_new && (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                                  status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)))
        LogInfo("director stream ended code={} {}", static_cast<int>(status.error_code()),
                status.error_message());
    }
    return has_read;
  }

  void Run() {
    ReconnectPacing pacing(std::random_device{}());
    bool was_answered = true;
    for (uint64_t number = 1;; ++number) {
      const bool is_there = (was_answered && number > 1) || AwaitDirector(pacing, number);
      was_answered = is_there && RunOnce(number);
      has_attached |= was_answered;
      if (!Pause(pacing.Next(was_answered, come_again))) continue;
      base::MutexLock lock(mutex);
      has_ended = true;
      changed.NotifyAll();
      return;
    }
  }
};

DirectorStream::DirectorStream(const std::string& address, const wire::ClientTls& tls, bool is_far,
                               EventSink* events)
    : impl_(std::make_unique<Impl>()) {
  impl_->events = events;
  impl_->address = address;
  impl_->is_far = is_far;
  impl_->UseTls(tls);
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
}

DirectorStream::~DirectorStream() { Finish(absl::ZeroDuration()); }

void DirectorStream::Send(uint64_t stream, const v1::FromWorker& message) {
  base::MutexLock lock(impl_->write_mutex);
  if (impl_->writable == nullptr || impl_->writable_number != stream) return;
  impl_->writable->Write(message);  // a failure shows as the end of the stream
}

void DirectorStream::UseTls(const wire::ClientTls& tls) { impl_->UseTls(tls); }

void DirectorStream::HangUp(uint64_t stream) {
  base::MutexLock lock(impl_->mutex);
  if (impl_->context != nullptr && impl_->context_number == stream) impl_->context->TryCancel();
}

void DirectorStream::Finish(absl::Duration patience) {
  if (!impl_->thread.joinable()) return;
  {
    base::MutexLock lock(impl_->mutex);
    impl_->is_stopping = true;
    impl_->changed.NotifyAll();
  }
  {
    base::MutexLock lock(impl_->write_mutex);
    if (impl_->writable != nullptr) impl_->writable->WritesDone();
  }
  {
    const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(patience);
    base::MutexLock lock(impl_->mutex);
    while (!impl_->has_ended && std::chrono::steady_clock::now() < deadline) {
      impl_->changed.WaitFor(impl_->mutex, deadline - std::chrono::steady_clock::now());
    }
    if (impl_->context != nullptr) impl_->context->TryCancel();
  }
  impl_->thread.join();
}

}  // namespace galley::worker
