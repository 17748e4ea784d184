#include "director/serve/worker_service.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/wire/channel.h"
#include "common/wire/conversation.h"
#include "common/wire/replaced_sessions.h"
#include "common/wire/worker_protocol.h"
#include "director/serve/peer.h"
#include "director/serve/worker_calls.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kWorkerIdMax = 256;

// One attached worker's outgoing side.
class Outbox {
 public:
  void Push(v1::ToWorker message) {
    {
      base::MutexLock lock(mutex_);
      messages_.push_back(std::move(message));
    }
    changed_.NotifyAll();
  }
  // Before all that waits.
  void PushFirst(v1::ToWorker message) {
    base::MutexLock lock(mutex_);
    messages_.push_front(std::move(message));
  }
  void Close() {
    {
      base::MutexLock lock(mutex_);
      closed_ = true;
    }
    changed_.NotifyAll();
  }
  // False when closed and empty.
  bool Pop(v1::ToWorker& message) {
    base::MutexLock lock(mutex_);
    while (messages_.empty() && !closed_) changed_.Wait(mutex_);
    if (messages_.empty()) return false;
    message = std::move(messages_.front());
    messages_.pop_front();
    return true;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<v1::ToWorker> messages_ GALLEY_GUARDED_BY(mutex_);
  bool closed_ GALLEY_GUARDED_BY(mutex_) = false;
};

struct Attached {
  std::shared_ptr<Outbox> outbox;
  grpc::ServerContext* context = nullptr;
  uint64_t session = 0;
  std::string machine;
};

// The numbers of one stream, for the thread that reads and the one that writes.
class Numbers {
 public:
  uint64_t Send() {
    base::MutexLock lock(mutex_);
    return conversation_.Send(clock_.Monotonic());
  }
  wire::Conversation::Heard Receive(const v1::FromWorker& message) {
    base::MutexLock lock(mutex_);
    return conversation_.Receive(message.sequence(), message.acknowledged(), clock_.Monotonic());
  }

 private:
  base::Mutex mutex_;
  wire::Conversation conversation_ GALLEY_GUARDED_BY(mutex_);
  SystemClock clock_;
};

class WorkerServiceImpl final : public WorkerService, public WorkerCalls {
 public:
  // `own`: null, or the object of `door`.
  WorkerServiceImpl(Callbacks callbacks, const std::map<std::string, std::string>& expected,
                    std::unique_ptr<DirectorDoor> own, DirectorDoor& door)
      : callbacks_(std::move(callbacks)),
        own_door_(std::move(own)),
        door_(door),
        tokens_(expected) {
    door_.Admit(this);
  }

  ~WorkerServiceImpl() override { Stop(); }

  void Stop() override {
    door_.Close(this);
    {
      base::MutexLock lock(mutex_);
      if (std::exchange(is_stopped_, true)) return;
      for (auto& [id, stream] : streams_) {
        stream.outbox->Close();
        stream.context->TryCancel();
      }
      for (grpc::ServerContext* call : calls_) call->TryCancel();
    }
    door_.AwaitCalls();
  }

  const std::string& address() const override { return door_.address(); }
  WorkerCalls& calls() override { return *this; }
  void ExpectForeign(const std::string& token,
                     std::function<bool(std::string_view)> is_reserved) override {
    base::MutexLock lock(mutex_);
    foreign_token_ = token;
    is_reserved_ = std::move(is_reserved);
  }

  grpc::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) override {
    if (!callbacks_.on_question)
      return {grpc::StatusCode::UNIMPLEMENTED, "this director answers no questions"};
    auto found = callbacks_.on_question(question);
    if (!found.ok())
      return {static_cast<grpc::StatusCode>(found.status().code()), MessageOf(found.status())};
    *answer = *std::move(found);
    return grpc::Status::OK;
  }

  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest& request,
                     grpc::ServerWriter<v1::FetchPiece>& writer) override {
    const Call call(*this, context);
    if (const grpc::Status known = CheckCaller(*context, request.caller()); !known.ok())
      return known;
    if (!callbacks_.on_fetch) return {grpc::StatusCode::UNIMPLEMENTED, "no bytes are given here"};
    return wire::ToGrpc(callbacks_.on_fetch(
        request.caller().worker_id(), request,
        [&writer](const v1::FetchPiece& piece) { return writer.Write(piece); }));
  }

  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest& request,
                           v1::FindMissingAnswer* answer) override {
    const Call call(*this, context);
    if (const grpc::Status known = CheckCaller(*context, request.caller()); !known.ok())
      return known;
    if (!callbacks_.on_find_missing)
      return {grpc::StatusCode::UNIMPLEMENTED, "no bytes are taken here"};
    absl::StatusOr<v1::FindMissingAnswer> found = callbacks_.on_find_missing(request);
    if (!found.ok()) return wire::ToGrpc(found.status());
    *answer = *std::move(found);
    return grpc::Status::OK;
  }

  grpc::Status Upload(grpc::ServerContext* context, grpc::ServerReader<v1::UploadPiece>& reader,
                      v1::UploadAnswer* answer) override {
    const Call call(*this, context);
    v1::UploadPiece first;
    if (!reader.Read(&first)) return grpc::Status::OK;
    if (const grpc::Status known = CheckCaller(*context, first.caller()); !known.ok()) return known;
    if (!callbacks_.on_upload) return {grpc::StatusCode::UNIMPLEMENTED, "no bytes are taken here"};
    bool has_first = true;
    const absl::StatusOr<uint64_t> stored =
        callbacks_.on_upload(first.caller().worker_id(), [&](v1::UploadPiece& piece) {
          if (!std::exchange(has_first, false)) return reader.Read(&piece);
          piece = std::move(first);
          return true;
        });
    if (!stored.ok()) return wire::ToGrpc(stored.status());
    answer->set_stored_bytes(*stored);
    return grpc::Status::OK;
  }

  grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest& request,
                      const std::function<absl::StatusOr<std::string>(const std::string&,
                                                                      const std::string&)>& issue,
                      v1::EnrollAnswer* answer) override {
    const std::string& worker_id = request.caller().worker_id();
    const auto is_launched = [&]() GALLEY_REQUIRES(mutex_) {
      const auto own = tokens_.find(worker_id);
      return own != tokens_.end() && !own->second.empty() &&
             own->second == request.caller().token();
    };
    {
      base::MutexLock lock(mutex_);
      if (!is_launched()) return Stranger();
    }
    const absl::StatusOr<std::string> issued = issue(request.certificate_request(), worker_id);
    if (!issued.ok()) return wire::ToGrpc(issued.status());
    base::MutexLock lock(mutex_);
    if (!is_launched()) return Stranger();
    const bool is_again = !last_given_.insert_or_assign(worker_id, *issued).second;
    LogInfo("worker={} was given a certificate{}, at {}", worker_id,
            is_again ? " again: the one before is void" : "", context->peer());
    // Whoever had the one before is let in no more.
    if (const auto stream = streams_.find(worker_id); is_again && stream != streams_.end())
      stream->second.context->TryCancel();
    answer->set_certificate(*issued);
    return grpc::Status::OK;
  }

  void Expect(const std::string& worker_id, const std::string& token) override {
    base::MutexLock lock(mutex_);
    tokens_[worker_id] = token;
  }

  void Send(const std::string& worker_id, v1::ToWorker message) override {
    base::MutexLock lock(mutex_);
    const auto found = streams_.find(worker_id);
    if (found != streams_.end()) found->second.outbox->Push(std::move(message));
  }

  std::string ComesFrom(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    const auto found = streams_.find(worker_id);
    return found == streams_.end() || found->second.context == nullptr
               ? ""
               : std::string(found->second.context->peer());
  }
  bool IsAttached(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    return streams_.contains(worker_id);
  }

  void HangUp(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    EndStream(worker_id);
  }

  void Disconnect(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    tokens_.erase(worker_id);
    last_given_.erase(worker_id);
    EndStream(worker_id);
  }

  grpc::Status Attach(grpc::ServerContext* context, Stream* stream) override {
    v1::FromWorker message;
    if (!stream->Read(&message)) return grpc::Status::OK;
    if (!message.has_hello())
      return {grpc::StatusCode::INVALID_ARGUMENT, "the first message must carry hello"};
    const std::string worker_id = message.hello().worker_id();
    if (message.hello().protocol() != wire::kWorkerProtocol) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              fmt::format("protocol {} is spoken here, the worker speaks {}", wire::kWorkerProtocol,
                          message.hello().protocol())};
    }
    if (const grpc::Status known = Admit(*context, worker_id, message.hello().token()); !known.ok())
      return known;
    // There before it is welcomed: what is sent to it from here on waits behind the welcome. Nobody
    // would miss a message that is dropped here, for it would have no number.
    auto outbox = std::make_shared<Outbox>();
    {
      base::MutexLock lock(mutex_);
      if (is_stopped_) return {grpc::StatusCode::UNAVAILABLE, "the director ends"};
      if (const grpc::Status taken = CheckName(message.hello()); !taken.ok()) return taken;
      auto& slot = streams_[worker_id];
      if (slot.outbox != nullptr) {  // an older stream of the same worker
        slot.outbox->Close();
        slot.context->TryCancel();
      }
      slot = Attached{outbox, context, message.hello().session(), message.hello().machine()};
    }
    auto welcome = callbacks_.on_attach(worker_id, message);
    if (!welcome.ok()) {
      Leave(worker_id, outbox);
      return {static_cast<grpc::StatusCode>(welcome.status().code()), MessageOf(welcome.status())};
    }
    outbox->PushFirst(std::move(*welcome));
    Numbers numbers;
    (void)numbers.Receive(message);
    std::thread writer([&] {
      v1::ToWorker out;
      while (outbox->Pop(out)) {
        out.set_sequence(numbers.Send());
        if (!stream->Write(out)) break;
      }
    });
    callbacks_.on_message(worker_id, message);
    auto heard = wire::Conversation::Heard::kNext;
    while (heard != wire::Conversation::Heard::kBroken && stream->Read(&message)) {
      heard = numbers.Receive(message);
      // Another stream of the worker took its place: what this one says is said again there.
      if (!IsPresent(worker_id, outbox)) heard = wire::Conversation::Heard::kBroken;
      if (heard == wire::Conversation::Heard::kNext) callbacks_.on_message(worker_id, message);
    }
    const bool is_broken = heard == wire::Conversation::Heard::kBroken;
    outbox->Close();
    if (is_broken) context->TryCancel();
    writer.join();
    if (Leave(worker_id, outbox)) callbacks_.on_detach(worker_id);
    if (is_broken) return {grpc::StatusCode::ABORTED, "messages were lost: attach again"};
    return grpc::Status::OK;
  }

 private:
  // Two that came by themselves may have been given one name: the second is to come again when the
  // first is gone. One that was launched may have been started again elsewhere: the newer has the
  // name.
  grpc::Status CheckName(const v1::Hello& hello) GALLEY_REQUIRES(mutex_) {
    if (tokens_.contains(hello.worker_id())) {
      if (replaced_.Take(hello.worker_id(), hello.session())) return grpc::Status::OK;
      return {grpc::StatusCode::FAILED_PRECONDITION,
              fmt::format("another process, which was started later, is worker \"{}\" by now",
                          hello.worker_id())};
    }
    const auto other = streams_.find(hello.worker_id());
    if (other == streams_.end() || other->second.session == hello.session())
      return grpc::Status::OK;
    return {grpc::StatusCode::UNAVAILABLE,
            fmt::format("the name \"{}\" is that of another worker, which is attached from {}",
                        hello.worker_id(), other->second.machine)};
  }

  void EndStream(const std::string& worker_id) GALLEY_REQUIRES(mutex_) {
    const auto found = streams_.find(worker_id);
    if (found == streams_.end()) return;
    found->second.outbox->Close();
    found->second.context->TryCancel();
  }

  // Ends the call with the service.
  struct Call {
    Call(WorkerServiceImpl& of, grpc::ServerContext* own) : service(of), context(own) {
      base::MutexLock lock(service.mutex_);
      service.calls_.insert(context);
      if (service.is_stopped_) context->TryCancel();
    }
    ~Call() {
      base::MutexLock lock(service.mutex_);
      service.calls_.erase(context);
    }
    WorkerServiceImpl& service;
    grpc::ServerContext* context;
  };

  // Bytes are for workers that are attached.
  grpc::Status CheckCaller(const grpc::ServerContext& context, const v1::Caller& caller) {
    if (const grpc::Status known = Admit(context, caller.worker_id(), caller.token()); !known.ok())
      return known;
    base::MutexLock lock(mutex_);
    if (is_stopped_) return {grpc::StatusCode::UNAVAILABLE, "the director ends"};
    if (!streams_.contains(caller.worker_id()))
      return {grpc::StatusCode::UNAVAILABLE, "the worker is not attached"};
    return grpc::Status::OK;
  }

  static grpc::Status Stranger() {
    return {grpc::StatusCode::UNAUTHENTICATED, "unknown worker or wrong token"};
  }

  // The one place where it is decided who a worker is. Where TLS is spoken, whoever was launched
  // shows the certificate that it was given last, for its name only; whoever came by itself shows
  // one of the studio's authority (gRPC has checked that), and none that was given to another.
  grpc::Status Admit(const grpc::ServerContext& context, const std::string& worker_id,
                     const std::string& token) {
    const Peer peer = PeerOf(context);
    base::MutexLock lock(mutex_);
    if (token.empty() || worker_id.empty() || worker_id.size() > kWorkerIdMax) return Stranger();
    if (peer.has_tls && peer.certificate.empty())
      return {grpc::StatusCode::UNAUTHENTICATED, "a certificate is needed here"};
    const auto own = tokens_.find(worker_id);
    if (own == tokens_.end()) {
      const bool is_known = !foreign_token_.empty() && token == foreign_token_ &&
                            !is_reserved_(worker_id) && !peer.is_launched;
      return is_known ? grpc::Status::OK : Stranger();
    }
    if (own->second != token) return Stranger();
    if (!peer.has_tls) return grpc::Status::OK;
    const auto given = last_given_.find(worker_id);
    if (given == last_given_.end() || given->second != peer.certificate)
      return {grpc::StatusCode::UNAUTHENTICATED,
              "the certificate is not the one that this worker was given last"};
    return grpc::Status::OK;
  }

  // False: another stream of the worker took its place.
  bool Leave(const std::string& worker_id, const std::shared_ptr<Outbox>& outbox) {
    base::MutexLock lock(mutex_);
    const auto found = streams_.find(worker_id);
    if (found == streams_.end() || found->second.outbox != outbox) return false;
    streams_.erase(found);
    return true;
  }

  bool IsPresent(const std::string& worker_id, const std::shared_ptr<Outbox>& outbox) {
    base::MutexLock lock(mutex_);
    const auto found = streams_.find(worker_id);
    return found != streams_.end() && found->second.outbox == outbox;
  }

  const Callbacks callbacks_;
  const std::unique_ptr<DirectorDoor> own_door_;
  DirectorDoor& door_;
  base::Mutex mutex_;
  bool is_stopped_ GALLEY_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> tokens_ GALLEY_GUARDED_BY(mutex_);
  std::string foreign_token_ GALLEY_GUARDED_BY(mutex_);  // empty: none is expected
  std::function<bool(std::string_view)> is_reserved_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, std::string> last_given_ GALLEY_GUARDED_BY(mutex_);  // by worker; PEM
  std::map<std::string, Attached> streams_ GALLEY_GUARDED_BY(mutex_);
  wire::ReplacedSessions replaced_ GALLEY_GUARDED_BY(mutex_);
  std::set<grpc::ServerContext*> calls_ GALLEY_GUARDED_BY(mutex_);  // Fetch and Upload
};

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerService>> WorkerService::Start(
    const std::string& socket_path, Callbacks callbacks,
    const std::map<std::string, std::string>& expected) {
  ASSIGN_OR_RETURN(std::unique_ptr<DirectorDoor> own, DirectorDoor::Open(socket_path));
  DirectorDoor& door = *own;
  return std::make_unique<WorkerServiceImpl>(std::move(callbacks), expected, std::move(own), door);
}

std::unique_ptr<WorkerService> WorkerService::StartBehind(
    DirectorDoor& door, Callbacks callbacks, const std::map<std::string, std::string>& expected) {
  return std::make_unique<WorkerServiceImpl>(std::move(callbacks), expected, nullptr, door);
}

}  // namespace galley::director
