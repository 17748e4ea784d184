#include "director/serve/worker_service.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/listen/accept_loop.h"
#include "common/listen/listening_socket.h"
#include "common/wire/channel.h"
#include "common/wire/conversation.h"
#include "common/wire/hand_over.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {
namespace {

constexpr size_t kSocketPathMax = 107;  // sun_path less its NUL, unix(7)
// Reports carry metadata only, but a package may observe 100,000 files.
constexpr int kMessageBytesMax = 64 << 20;
constexpr uint32_t kProtocol = 1;
// The suffix of a socket until it is in its place. It names this process, since a director that was
// overtaken may end just then.
std::string NewSuffix() { return fmt::format("~{}", ::getpid()); }

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

struct Stream {
  std::shared_ptr<Outbox> outbox;
  grpc::ServerContext* context = nullptr;
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

class WorkerServiceImpl final : public WorkerService, public v1::Director::Service {
 public:
  explicit WorkerServiceImpl(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

  ~WorkerServiceImpl() override {
    Stop();
    if (!short_directory_.empty()) (void)RemoveAll(short_directory_);
    // Another director may have put its own there meanwhile.
    if (IsOurs(socket_path_)) ::unlink(socket_path_.c_str());
    std::error_code error;
    if (!link_path_.empty() && std::filesystem::read_symlink(link_path_, error) == socket_path_)
      ::unlink(link_path_.c_str());
  }

  void Stop() override {
    {
      base::MutexLock lock(mutex_);
      for (auto& [id, stream] : streams_) {
        stream.outbox->Close();
        stream.context->TryCancel();
      }
    }
    if (door_ != nullptr) door_->Stop();
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    server_->Wait();
  }

  absl::Status Listen(std::string socket_path) {
    if (socket_path.size() + NewSuffix().size() > kSocketPathMax) {
      const char* temporary = std::getenv("TMPDIR");
      std::string parent = temporary != nullptr ? temporary : "/tmp";
      if (parent.size() > 60) parent = "/tmp";
      ASSIGN_OR_RETURN(short_directory_, MakeTemporaryDirectory(parent, "galley-"));
      link_path_ = std::exchange(socket_path, JoinPath(short_directory_, "director.sock"));
    }
    socket_path_ = socket_path;
    address_ = "unix:" + socket_path;
    // The socket never stands in its place with another mode.
    const std::string bound = socket_path + NewSuffix();
    ::unlink(bound.c_str());
    wire::PrepareGrpc();
    grpc::ServerBuilder builder;
    // Protected by the folder's and socket's mode.
    const std::function<void(int)> hand_over = wire::HandOverToLocal(builder);
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(fmt::format("cannot listen on {} for workers", socket_path));
    }
    ASSIGN_OR_RETURN(FileDescriptor socket, listen::ListenOnUnix(bound));
    if (::chmod(bound.c_str(), 0600) != 0) return ErrnoStatus(errno, "chmod", bound);
    ASSIGN_OR_RETURN(ours_, StatFile(bound, false));
    if (::rename(bound.c_str(), socket_path.c_str()) != 0)
      return ErrnoStatus(errno, "put in place", socket_path);
    if (!link_path_.empty()) LinkTo(socket_path);
    std::vector<listen::AcceptLoop::Listener> listeners;
    listeners.push_back({.socket = std::move(socket), .hand_over = hand_over});
    door_ = listen::AcceptLoop::Make(
        {.name = "workers", .limits = listen::LocalDoorLimits(CurrentDescriptorLimit().soft)},
        clock_);
    return door_->Start(std::move(listeners));
  }

  const std::string& address() const override { return address_; }

  grpc::Status Ask(grpc::ServerContext*, const v1::PackageQuestion* question,
                   v1::PackageAnswer* answer) override {
    if (!callbacks_.on_question)
      return {grpc::StatusCode::UNIMPLEMENTED, "this director answers no questions"};
    auto found = callbacks_.on_question(*question);
    if (!found.ok())
      return {static_cast<grpc::StatusCode>(found.status().code()), MessageOf(found.status())};
    *answer = *std::move(found);
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

  void Disconnect(const std::string& worker_id) override {
    base::MutexLock lock(mutex_);
    tokens_.erase(worker_id);
    const auto found = streams_.find(worker_id);
    if (found == streams_.end()) return;
    found->second.outbox->Close();
    found->second.context->TryCancel();
  }

  grpc::Status Attach(grpc::ServerContext* context,
                      grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>* stream) override {
    v1::FromWorker message;
    if (!stream->Read(&message)) return grpc::Status::OK;
    if (!message.has_hello())
      return {grpc::StatusCode::INVALID_ARGUMENT, "the first message must carry hello"};
    const std::string worker_id = message.hello().worker_id();
    if (message.hello().protocol() != kProtocol) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              fmt::format("protocol {} is spoken here, the worker speaks {}", kProtocol,
                          message.hello().protocol())};
    }
    if (!Admit(worker_id, message.hello().token())) {
      return {grpc::StatusCode::UNAUTHENTICATED, "unknown worker or wrong token"};
    }
    // There before it is welcomed: what is sent to it from here on waits behind the welcome. Nobody
    // would miss a message that is dropped here, for it would have no number.
    auto outbox = std::make_shared<Outbox>();
    {
      base::MutexLock lock(mutex_);
      auto& slot = streams_[worker_id];
      if (slot.outbox != nullptr) {  // an older stream of the same worker
        slot.outbox->Close();
        slot.context->TryCancel();
      }
      slot = Stream{outbox, context};
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
  bool IsOurs(const std::string& path) const {
    if (!ours_.has_value()) return false;
    const absl::StatusOr<FileStat> there = StatFile(path, false);
    return there.ok() && there->inode == ours_->inode && there->device == ours_->device;
  }

  // Where people look for the socket. Workers do without it.
  void LinkTo(const std::string& socket_path) {
    ::unlink(link_path_.c_str());
    if (::symlink(socket_path.c_str(), link_path_.c_str()) != 0)
      LogWarning("`galley why` will not find this cook: {}",
                 MessageOf(ErrnoStatus(errno, "link", link_path_)));
  }

  bool Admit(const std::string& worker_id, const std::string& token) {
    base::MutexLock lock(mutex_);
    const auto found = tokens_.find(worker_id);
    return found != tokens_.end() && !token.empty() && found->second == token;
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

  Callbacks callbacks_;
  std::string address_;
  std::string socket_path_;
  std::string short_directory_;
  std::string link_path_;
  std::optional<FileStat> ours_;  // the socket
  base::Mutex mutex_;
  std::map<std::string, std::string> tokens_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, Stream> streams_ GALLEY_GUARDED_BY(mutex_);
  SystemClock clock_;
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerService>> WorkerService::Start(
    const std::string& socket_path, Callbacks callbacks,
    std::map<std::string, std::string> expected) {
  auto service = std::make_unique<WorkerServiceImpl>(std::move(callbacks));
  for (const auto& [worker, token] : expected) service->Expect(worker, token);
  RETURN_IF_ERROR(service->Listen(socket_path));
  return std::unique_ptr<WorkerService>(std::move(service));
}

}  // namespace galley::director
