#include "director/serve/director_door.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/listen/accept_loop.h"
#include "common/listen/listening_socket.h"
#include "common/wire/channel.h"
#include "common/wire/hand_over.h"
#include "common/wire/tls_credentials.h"
#include "director/serve/resident_service.h"
#include "director/serve/roles.h"
#include "director/serve/worker_calls.h"
#include "director/serve/worker_stream.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kSocketPathMax = 107;  // sun_path without its NUL, unix(7)
// Reports carry only metadata, but a package may observe 100,000 files.
constexpr int kMessageBytesMax = 64 << 20;
// Returns the suffix of a socket until it is in its place. The suffix names this process, because a
// director that was overtaken may end just then.
std::string NewSuffix() { return fmt::format("~{}", ::getpid()); }

// Time for clients to hear the end of their calls.
constexpr std::chrono::seconds kGrace(2);

// Ends the connections of this process that came in at the socket, whatever name the socket had
// then.
void CutConnections(const std::string& socket_path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_un name{};
    socklen_t size = sizeof(name) - 1;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
        name.sun_family != AF_UNIX || !std::string_view(name.sun_path).starts_with(socket_path))
      continue;
    LogWarning("a client does not read what it is told: its connection is cut");
    ::shutdown(fd, SHUT_RDWR);
  }
}

// WorkerRouter: passes calls of workers on to their present answerer.
class WorkerRouter final : public v1::Director::WithCallbackMethod_Attach<v1::Director::Service> {
 public:
  WorkerCalls::Stream* Attach(grpc::CallbackServerContext* context) override {
    const auto turn = std::make_shared<Turn>(*this);
    if (turn->calls == nullptr) return RefuseStream(NotReady());
    return turn->calls->Attach(context, [turn] { (void)turn; });
  }
  grpc::Status Ask(grpc::ServerContext*, const v1::PackageQuestion* question,
                   v1::PackageAnswer* answer) override {
    const Turn turn(*this);
    if (turn.calls != nullptr) return turn.calls->Ask(*question, answer);
    return {grpc::StatusCode::FAILED_PRECONDITION, "no cook runs"};
  }

  grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest* request,
                     grpc::ServerWriter<v1::FetchPiece>* writer) override {
    const Turn turn(*this);
    return turn.calls != nullptr ? turn.calls->Fetch(context, *request, *writer) : NotReady();
  }
  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest* request,
                           v1::FindMissingAnswer* answer) override {
    const Turn turn(*this);
    return turn.calls != nullptr ? turn.calls->FindMissing(context, *request, answer) : NotReady();
  }
  grpc::Status Upload(grpc::ServerContext* context, grpc::ServerReader<v1::UploadPiece>* reader,
                      v1::UploadAnswer* answer) override {
    const Turn turn(*this);
    return turn.calls != nullptr ? turn.calls->Upload(context, *reader, answer) : NotReady();
  }

  static grpc::Status NotReady() {
    return {grpc::StatusCode::UNAVAILABLE, "the director is not ready, or about to end"};
  }

  void Set(WorkerCalls* calls) {
    const base::MutexLock lock(mutex_);
    calls_ = calls;
  }
  void Remove(WorkerCalls* calls) {
    const base::MutexLock lock(mutex_);
    if (calls_ == calls) calls_ = nullptr;
  }
  void AwaitCalls() {
    const base::MutexLock lock(mutex_);
    while (under_way_ > 0) changed_.Wait(mutex_);
  }

 private:
  struct Turn {
    explicit Turn(WorkerRouter& from) : router(from) {
      const base::MutexLock lock(router.mutex_);
      calls = router.calls_;
      if (calls != nullptr) ++router.under_way_;
    }
    ~Turn() {
      if (calls == nullptr) return;
      const base::MutexLock lock(router.mutex_);
      if (--router.under_way_ == 0) router.changed_.NotifyAll();
    }
    WorkerRouter& router;
    WorkerCalls* calls = nullptr;
  };

  base::Mutex mutex_;
  base::CondVar changed_;
  WorkerCalls* calls_ GALLEY_GUARDED_BY(mutex_) = nullptr;
  uint64_t under_way_ GALLEY_GUARDED_BY(mutex_) = 0;
};

class DirectorDoorImpl final : public DirectorDoor {
 public:
  DirectorDoorImpl(ClientCalls* clients, StatusCalls* hosted) {
    if (clients != nullptr) clients_.emplace(*clients);
    if (hosted != nullptr) hosted_.emplace(*hosted);
  }
  ~DirectorDoorImpl() override {
    workers_.Set(nullptr);
    if (clients_.has_value()) clients_->Close();
    if (door_ != nullptr) door_->Stop();
    if (server_ != nullptr) ShutDown();
    RemoveSocket();
  }

  void RemoveSocket() override {
    if (!short_directory_.empty()) (void)RemoveAll(short_directory_);
    // Another director may have put its own socket there meanwhile.
    if (IsOurs(socket_path_)) ::unlink(socket_path_.c_str());
    std::error_code error;
    if (!link_path_.empty() && std::filesystem::read_symlink(link_path_, error) == socket_path_)
      ::unlink(link_path_.c_str());
  }

  const std::string& address() const override { return address_; }
  void SetWorkerCalls(WorkerCalls* calls) override { workers_.Set(calls); }
  void RemoveWorkerCalls(WorkerCalls* calls) override { workers_.Remove(calls); }
  void AwaitCalls() override { workers_.AwaitCalls(); }
  absl::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) override {
    return wire::FromGrpc(workers_.Ask(nullptr, &question, answer));
  }

  // A write to a stopped client with a full socket does not notice that its call is cancelled: such
  // connections are cut.
  void ShutDown() {
    std::promise<void> down;
    std::thread cutter([this, is_down = down.get_future()] {
      if (is_down.wait_for(2 * kGrace) == std::future_status::timeout) CutConnections(socket_path_);
    });
    server_->Shutdown(std::chrono::system_clock::now() + kGrace);
    server_->Wait();
    down.set_value();
    cutter.join();
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
    // The mode of the folder and of the socket protects them.
    const std::function<void(int)> hand_over =
        wire::HandOverToLocal(builder, wire::PlainCredentials(GateOfSocket()));
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.RegisterService(&workers_);
    if (clients_.has_value()) builder.RegisterService(&*clients_);
    if (hosted_.has_value()) builder.RegisterService(&*hosted_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return UnavailableError("cannot listen on {}", socket_path);
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

 private:
  bool IsOurs(const std::string& path) const {
    if (!ours_.has_value()) return false;
    const absl::StatusOr<FileStat> there = StatFile(path, false);
    return there.ok() && there->inode == ours_->inode && there->device == ours_->device;
  }

  // Makes a link where people look for the socket. Workers do without the link.
  void LinkTo(const std::string& socket_path) {
    ::unlink(link_path_.c_str());
    if (::symlink(socket_path.c_str(), link_path_.c_str()) != 0)
      LogWarning("`galley why` will not find this cook: {}",
                 MessageOf(ErrnoStatus(errno, "link", link_path_)));
  }

  WorkerRouter workers_;
  std::optional<ResidentService> clients_;
  std::optional<HostedService> hosted_;
  std::string address_;
  std::string socket_path_;
  std::string short_directory_;
  std::string link_path_;
  std::optional<FileStat> ours_;  // the socket's stat
  SystemClock clock_;
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DirectorDoor>> DirectorDoor::Open(const std::string& socket_path,
                                                                 ClientCalls* clients,
                                                                 StatusCalls* hosted) {
  auto door = std::make_unique<DirectorDoorImpl>(clients, hosted);
  RETURN_IF_ERROR(door->Listen(socket_path));
  return std::unique_ptr<DirectorDoor>(std::move(door));
}

}  // namespace galley::director
