#include "director/serve/worker_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/task_pool.h"
#include "common/wire/channel.h"
#include "common/wire/replaced_sessions.h"
#include "common/wire/worker_protocol.h"
#include "director/serve/attach_limits.h"
#include "director/serve/given_certificates.h"
#include "director/serve/peer.h"
#include "director/serve/worker_calls.h"
#include "director/serve/worker_stream.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kWorkerIdMax = 256;
// Calls of a worker at a time, beside its stream: each call holds a thread. A worker's one
// connection for bytes has fewer calls.
constexpr int kCallsOfAWorkerMax = 64;
constexpr absl::Duration kHelloMax = absl::Seconds(20);   // until a stream says whose it is
constexpr absl::Duration kUploadMax = absl::Seconds(60);  // between two pieces

// Threads that carry out the messages of all streams: only a few, because at most they wait for the
// disk.
constexpr size_t kStreamThreads = 16;

struct Attached {
  WorkerStream* stream = nullptr;  // until the stream leaves
  uint64_t session = 0;
  std::string machine;
};

class WorkerServiceImpl final : public WorkerService,
                                public WorkerCalls,
                                private WorkerStream::Owner {
 public:
  // `own`: null, or the object of `door`.
  WorkerServiceImpl(Callbacks callbacks, const std::map<std::string, std::string>& expected,
                    std::unique_ptr<DirectorDoor> own, DirectorDoor& door,
                    const AttachLimits::Options& limits)
      : callbacks_(std::move(callbacks)),
        own_door_(std::move(own)),
        door_(door),
        tokens_(expected),
        limits_(limits) {
    door_.SetWorkerCalls(this);
  }

  ~WorkerServiceImpl() override { Stop(); }

  void Stop() override {
    door_.RemoveWorkerCalls(this);
    {
      base::MutexLock lock(mutex_);
      if (std::exchange(is_stopped_, true)) return;
      for (const auto& [stream, until] : open_) stream->HangUp();
      for (grpc::ServerContext* call : calls_) call->TryCancel();
      for (const auto& [call, until] : deadlines_) call->TryCancel();
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
    Call call(*this, context);
    if (const grpc::Status known = CheckCaller(*context, request.caller(), call); !known.ok())
      return known;
    if (!callbacks_.on_fetch) return {grpc::StatusCode::UNIMPLEMENTED, "no bytes are given here"};
    return wire::ToGrpc(callbacks_.on_fetch(
        request.caller().worker_id(), request,
        [&writer](const v1::FetchPiece& piece) { return writer.Write(piece); }));
  }

  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest& request,
                           v1::FindMissingAnswer* answer) override {
    Call call(*this, context);
    if (const grpc::Status known = CheckCaller(*context, request.caller(), call); !known.ok())
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
    Call call(*this, context);
    const auto read = [&](v1::UploadPiece& piece) {
      const Deadline deadline(*this, context, kUploadMax);
      return reader.Read(&piece);
    };
    v1::UploadPiece first;
    if (!read(first)) return grpc::Status::OK;
    if (const grpc::Status known = CheckCaller(*context, first.caller(), call); !known.ok())
      return known;
    if (!callbacks_.on_upload) return {grpc::StatusCode::UNIMPLEMENTED, "no bytes are taken here"};
    const std::string worker_id = first.caller().worker_id();  // `first` is handed on
    bool has_first = true;
    const absl::StatusOr<uint64_t> stored =
        callbacks_.on_upload(worker_id, [&](v1::UploadPiece& piece) {
          if (!std::exchange(has_first, false)) return read(piece);
          piece = std::move(first);
          return true;
        });
    if (!stored.ok()) return wire::ToGrpc(stored.status());
    answer->set_stored_bytes(*stored);
    return grpc::Status::OK;
  }

  grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest& request,
                      const Issue& issue, v1::EnrollAnswer* answer) override {
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
    const bool is_of_another = !given_[worker_id].Enroll(request.certificate_request(), *issued);
    LogInfo("worker={} was given a certificate{}, at {}", worker_id,
            is_of_another ? " again, for another key: the one before is void" : "",
            context->peer());
    // The previous holder of the name is let in no more.
    if (const auto stream = streams_.find(worker_id); is_of_another && stream != streams_.end())
      stream->second.stream->HangUp();
    answer->set_certificate(*issued);
    return grpc::Status::OK;
  }

  // The certificate that asks stays valid: what it began goes on, and it may ask again if the
  // answer is lost.
  grpc::Status Renew(grpc::ServerContext* context, const v1::EnrollRequest& request,
                     const Issue& issue, v1::EnrollAnswer* answer) override {
    Call call(*this, context);
    const std::string& worker_id = request.caller().worker_id();
    if (const grpc::Status known = CheckCaller(*context, request.caller(), call); !known.ok())
      return known;
    if (callbacks_.may_renew) {
      if (const absl::Status may = callbacks_.may_renew(worker_id); !may.ok())
        return wire::ToGrpc(may);
    }
    const absl::StatusOr<std::string> issued = issue(request.certificate_request(), worker_id);
    if (!issued.ok()) return wire::ToGrpc(issued.status());
    const std::string shown = PeerOf(*context).certificate;
    base::MutexLock lock(mutex_);
    const auto given = given_.find(worker_id);
    if (given == given_.end()) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              fmt::format("the certificate of {} is not the director's: the studio renews it",
                          worker_id)};
    }
    // Another certificate is in use by now.
    if (!given->second.Renew(shown, *issued)) return Stranger();
    LogInfo("worker={} was given another certificate before its own ends, at {}", worker_id,
            context->peer());
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
    if (found == streams_.end() || found->second.stream->Send(std::move(message))) return;
    LogWarning("worker={} does not read what it is told: its stream is ended", worker_id);
    found->second.stream->HangUp();
  }

  std::string PeerOfWorker(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    const auto found = streams_.find(worker_id);
    return found == streams_.end() ? "" : found->second.stream->peer();
  }
  void EndSilent(absl::Time now) override {
    base::MutexLock lock(mutex_);
    const auto is_over = [&](const std::string& peer, absl::Time& until) {
      if (now < until) return false;
      LogWarning("farm: a call from {} is ended: it says nothing", peer);
      until = absl::InfiniteFuture();
      return true;
    };
    for (auto& [call, until] : deadlines_) {
      if (is_over(call->peer(), until)) call->TryCancel();
    }
    for (auto& [stream, until] : open_) {
      if (is_over(stream->peer(), until)) stream->HangUp();
    }
  }
  std::vector<std::string> WorkersWithUnreadMessages() override {
    std::vector<std::string> workers;
    base::MutexLock lock(mutex_);
    for (const auto& [worker_id, attached] : streams_) {
      if (attached.stream->has_message()) workers.push_back(worker_id);
    }
    return workers;
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
    given_.erase(worker_id);
    EndStream(worker_id);
  }

  Stream* Attach(grpc::CallbackServerContext* context, std::function<void()> over) override {
    auto* const stream = new WorkerStream(context, *this, pool_, std::move(over));
    {
      base::MutexLock lock(mutex_);
      open_[stream] = clock_.Monotonic() + kHelloMax;
      if (is_stopped_) stream->HangUp();
    }
    stream->Start();
    return stream;
  }

 private:
  grpc::Status Join(WorkerStream& stream, const v1::FromWorker& first) override {
    {
      base::MutexLock lock(mutex_);
      open_[&stream] = absl::InfiniteFuture();
    }
    if (!first.has_hello())
      return {grpc::StatusCode::INVALID_ARGUMENT, "the first message must carry hello"};
    const v1::Hello& hello = first.hello();
    const std::string& worker_id = hello.worker_id();
    if (hello.protocol() != wire::kWorkerProtocol) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              fmt::format("protocol {} is spoken here, the worker speaks {}", wire::kWorkerProtocol,
                          hello.protocol())};
    }
    if (const grpc::Status known = Admit(stream.context(), worker_id, hello.token()); !known.ok())
      return known;
    stream.worker_id = worker_id;
    // The stream is there before its welcome: a message that is sent to it from here on waits
    // behind the welcome. Nobody would miss a message that is dropped here, because it would have
    // no number.
    {
      base::MutexLock lock(mutex_);
      if (is_stopped_) return {grpc::StatusCode::UNAVAILABLE, "the director ends"};
      if (const grpc::Status taken = CheckName(hello); !taken.ok()) return taken;
      if (const grpc::Status limit = CheckLimit(stream); !limit.ok()) return limit;
      Attached& slot = streams_[worker_id];
      if (slot.stream != nullptr) {  // an older stream of the same worker
        slot.stream->HangUp();
        if (slot.stream->is_heard) last_words_.insert({slot.stream, worker_id});
        last_words_ended_.NotifyAll();  // the older stream may wait itself
      }
      slot = Attached{&stream, hello.session(), hello.machine()};
      while (IsPresent(stream) && HasLastWords(worker_id)) last_words_ended_.Wait(mutex_);
      if (!IsPresent(stream))
        return {grpc::StatusCode::ABORTED, "the worker has attached once more meanwhile"};
      stream.is_heard = true;
    }
    auto welcome = callbacks_.on_attach(worker_id, first);
    EndHearing(stream);
    if (welcome.ok()) {
      stream.Welcome(*std::move(welcome));
      return grpc::Status::OK;
    }
    Remove(stream);
    return {static_cast<grpc::StatusCode>(welcome.status().code()), MessageOf(welcome.status())};
  }

  bool Hear(WorkerStream& stream, const v1::FromWorker& message) override {
    {
      base::MutexLock lock(mutex_);
      if (!IsPresent(stream)) return false;
      stream.is_heard = true;
    }
    callbacks_.on_message(stream.worker_id, message, [&] {
      base::MutexLock lock(mutex_);
      return IsPresent(stream);
    });
    EndHearing(stream);
    return true;
  }

  void EndHearing(WorkerStream& stream) {
    base::MutexLock lock(mutex_);
    stream.is_heard = false;
    if (last_words_.erase(&stream) > 0) last_words_ended_.NotifyAll();
  }

  bool IsPresent(const WorkerStream& stream) GALLEY_REQUIRES(mutex_) {
    const auto found = streams_.find(stream.worker_id);
    return found != streams_.end() && found->second.stream == &stream;
  }

  bool HasLastWords(const std::string& worker_id) GALLEY_REQUIRES(mutex_) {
    return std::ranges::any_of(last_words_,
                               [&](const auto& one) { return one.second == worker_id; });
  }

  void Leave(WorkerStream& stream) override {
    if (Remove(stream)) callbacks_.on_detach(stream.worker_id);
  }

  void Over(WorkerStream& stream) override {
    base::MutexLock lock(mutex_);
    open_.erase(&stream);
  }

  // Two workers that came by themselves may have the same name: the second worker is to come again
  // when the first is gone. A launched worker may have been started again elsewhere: the newer
  // worker has the name.
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

  // Launchers bring up as many workers as they were asked for; there may be any number of workers
  // that chose their own names.
  grpc::Status CheckLimit(WorkerStream& stream) GALLEY_REQUIRES(mutex_) {
    if (tokens_.contains(stream.worker_id)) return grpc::Status::OK;
    const std::string address = AddressOfPeer(stream.peer());
    const absl::Time now = clock_.Monotonic();
    const std::optional<absl::Duration> wait = limits_.Take(address, now);
    if (!wait.has_value()) return grpc::Status::OK;
    if (const std::optional<uint64_t> refused = limits_.TellRefused(address, now))
      LogWarning("farm: too many workers attach from {}: {} were told to come again later", address,
                 *refused);
    const int64_t wait_ms = absl::ToInt64Milliseconds(*wait);
    stream.context().AddTrailingMetadata(wire::kComeAgainMs, fmt::format("{}", wait_ms));
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            fmt::format("too many workers attach from {}: come again in {} ms", address, wait_ms)};
  }

  void EndStream(const std::string& worker_id) GALLEY_REQUIRES(mutex_) {
    const auto found = streams_.find(worker_id);
    if (found == streams_.end()) return;
    found->second.stream->HangUp();
  }

  // Call: registers a call, so that the service's end cancels it.
  struct Call {
    Call(WorkerServiceImpl& of, grpc::ServerContext* own) : service(of), context(own) {
      base::MutexLock lock(service.mutex_);
      service.calls_.insert(context);
      if (service.is_stopped_) context->TryCancel();
    }
    ~Call() {
      base::MutexLock lock(service.mutex_);
      service.calls_.erase(context);
      if (worker_id.empty()) return;
      const auto of_worker = service.calls_of_.find(worker_id);
      if (--of_worker->second == 0) service.calls_of_.erase(of_worker);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    WorkerServiceImpl& service;
    grpc::ServerContext* context;
    std::string worker_id;  // the worker whose call this is; empty: not yet known
  };

  // Deadline: ends a call that says nothing for this long during the life of the object
  // (EndSilent).
  struct Deadline {
    Deadline(WorkerServiceImpl& of, grpc::ServerContext* call, absl::Duration patience)
        : service(of), context(call) {
      base::MutexLock lock(service.mutex_);
      service.deadlines_[context] = service.clock_.Monotonic() + patience;
      if (service.is_stopped_) context->TryCancel();
    }
    ~Deadline() {
      base::MutexLock lock(service.mutex_);
      service.deadlines_.erase(context);
    }
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

    WorkerServiceImpl& service;
    grpc::ServerContext* context;
  };

  // Bytes are for attached workers. Counts the call as a call of the worker.
  grpc::Status CheckCaller(const grpc::ServerContext& context, const v1::Caller& caller,
                           Call& call) {
    if (const grpc::Status known = Admit(context, caller.worker_id(), caller.token()); !known.ok())
      return known;
    base::MutexLock lock(mutex_);
    if (is_stopped_) return {grpc::StatusCode::UNAVAILABLE, "the director ends"};
    if (!streams_.contains(caller.worker_id()))
      return {grpc::StatusCode::UNAVAILABLE, "the worker is not attached"};
    const auto of_worker = calls_of_.find(caller.worker_id());
    if (of_worker != calls_of_.end() && of_worker->second >= kCallsOfAWorkerMax)
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              fmt::format("{} makes {} calls at a time already", caller.worker_id(),
                          kCallsOfAWorkerMax)};
    ++calls_of_[caller.worker_id()];
    call.worker_id = caller.worker_id();
    return grpc::Status::OK;
  }

  static grpc::Status Stranger() {
    return {grpc::StatusCode::UNAUTHENTICATED, "unknown worker or wrong token"};
  }

  // The only place that decides who a worker is. With TLS, a launched worker shows a valid
  // certificate that it was given for its name; a worker that came by itself shows a certificate of
  // the studio's authority, which gRPC has checked, and no certificate that was given to another
  // worker.
  grpc::Status Admit(const grpc::ServerContextBase& context, const std::string& worker_id,
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
    const auto given = given_.find(worker_id);
    if (given == given_.end() || !given->second.Use(peer.certificate))
      return {grpc::StatusCode::UNAUTHENTICATED,
              "the certificate is not the one that this worker was given last"};
    return grpc::Status::OK;
  }

  // False: another stream of the worker took its place.
  bool Remove(const WorkerStream& stream) {
    base::MutexLock lock(mutex_);
    if (!IsPresent(stream)) return false;
    streams_.erase(stream.worker_id);
    return true;
  }

  const Callbacks callbacks_;
  const std::unique_ptr<DirectorDoor> own_door_;
  DirectorDoor& door_;
  base::Mutex mutex_;
  bool is_stopped_ GALLEY_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> tokens_ GALLEY_GUARDED_BY(mutex_);
  std::string foreign_token_ GALLEY_GUARDED_BY(mutex_);  // empty: no foreign worker is expected
  std::function<bool(std::string_view)> is_reserved_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, GivenCertificates> given_ GALLEY_GUARDED_BY(mutex_);  // by worker
  std::map<std::string, Attached> streams_ GALLEY_GUARDED_BY(mutex_);
  // Streams that were replaced while the owner was told of a message of theirs, and their workers.
  std::map<const WorkerStream*, std::string> last_words_ GALLEY_GUARDED_BY(mutex_);
  base::CondVar last_words_ended_;
  // The open streams, and until when a stream must say whose it is.
  std::map<WorkerStream*, absl::Time> open_ GALLEY_GUARDED_BY(mutex_);
  wire::ReplacedSessions replaced_ GALLEY_GUARDED_BY(mutex_);
  AttachLimits limits_ GALLEY_GUARDED_BY(mutex_);
  std::set<grpc::ServerContext*> calls_ GALLEY_GUARDED_BY(mutex_);  // calls other than Attach
  // Calls other than Attach, by worker.
  std::map<std::string, int> calls_of_ GALLEY_GUARDED_BY(mutex_);
  std::map<grpc::ServerContext*, absl::Time> deadlines_ GALLEY_GUARDED_BY(mutex_);
  SystemClock clock_;
  base::TaskPool pool_{kStreamThreads};
};

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerService>> WorkerService::Start(
    const std::string& socket_path, Callbacks callbacks,
    const std::map<std::string, std::string>& expected, const AttachLimits::Options& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<DirectorDoor> own, DirectorDoor::Open(socket_path));
  DirectorDoor& door = *own;
  return std::make_unique<WorkerServiceImpl>(std::move(callbacks), expected, std::move(own), door,
                                             limits);
}

std::unique_ptr<WorkerService> WorkerService::StartBehind(
    DirectorDoor& door, Callbacks callbacks, const std::map<std::string, std::string>& expected) {
  return std::make_unique<WorkerServiceImpl>(std::move(callbacks), expected, nullptr, door,
                                             AttachLimits::Options());
}

}  // namespace galley::director
