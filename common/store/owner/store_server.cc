#include "common/store/owner/store_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/descriptor_limit.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/listen/accept_loop.h"
#include "common/listen/listening_socket.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/store_service.h"
#include "common/store/owner/store_wire.h"
#include "common/wire/channel.h"
#include "common/wire/hand_over.h"

namespace galley::store {
namespace {

// A socket is bound under a name of its own in a folder that only we may enter, and takes its place
// by a rename: so it never stands there with another mode, and what was there before is replaced at
// once (kSocketBindingName).

// A folder of ours for sockets whose path in the store would be too long. Its name is that of the
// store, so that a successor has the same.
absl::StatusOr<std::string> ShortFolder(const std::string& directory) {
  const std::string folder = ShortSocketFolders(directory).front();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "create folder", folder);
  RETURN_IF_ERROR(CheckSocketFolder(folder));
  return folder;
}

class GrpcStoreServer final : public StoreServer {
 public:
  explicit GrpcStoreServer(StoreDirectory& store) : service_(store) {}

  ~GrpcStoreServer() override {
    // The name goes first: who comes now finds no owner, not one that does not answer.
    if (!path_.empty()) ::unlink(path_.c_str());
    if (!path_file_.empty()) ::unlink(path_file_.c_str());
    if (door_ != nullptr) door_->Stop();
    if (server_ != nullptr)
      server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }

  absl::Status Start(const std::string& directory) {
    std::string folder = directory;
    if (!FitsSocket(directory)) {
      ASSIGN_OR_RETURN(folder, ShortFolder(directory));
      path_file_ = JoinPath(directory, "store.sock.path");
    }
    ASSIGN_OR_RETURN(const std::string binding, MakeTemporaryDirectory(folder, "b-"));  // mode 0700
    const std::string path = JoinPath(folder, "store.sock");
    const absl::Status status = Bind(JoinPath(binding, "s"), path);
    const absl::Status removed = RemoveAll(binding);
    RETURN_IF_ERROR(status);
    path_ = path;
    RETURN_IF_ERROR(removed);
    if (path_file_.empty()) {
      ::unlink(JoinPath(directory, "store.sock.path").c_str());
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(EnsureWritableFile(path_file_));
    return WriteFileAtomic(path_file_, EncodeSocketPath(path_));
  }

 private:
  absl::Status Bind(const std::string& temporary, const std::string& path) {
    wire::PrepareGrpc();
    grpc::ServerBuilder builder;
    door_ = listen::AcceptLoop::Make(
        {.name = "store", .limits = listen::LocalDoorLimits(CurrentDescriptorLimit().soft)},
        clock_);
    const std::function<void(int)> hand_over = wire::HandOverToLocal(builder);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(4 << 20);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return InternalError("no server can be made for the socket {}", path);
    ASSIGN_OR_RETURN(FileDescriptor socket, listen::ListenOnUnix(temporary));
    if (::chmod(temporary.c_str(), 0600) != 0) return ErrnoStatus(errno, "chmod", temporary);
    std::vector<listen::AcceptLoop::Listener> listeners;
    listeners.push_back({.socket = std::move(socket), .hand_over = hand_over});
    RETURN_IF_ERROR(door_->Start(std::move(listeners)));
    if (::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename", path);
    return absl::OkStatus();
  }

  StoreService service_;
  SystemClock clock_;
  std::unique_ptr<listen::AcceptLoop> door_;
  std::unique_ptr<grpc::Server> server_;
  std::string path_;
  std::string path_file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Start(StoreDirectory& store,
                                                                const std::string& directory) {
  auto server = std::make_unique<GrpcStoreServer>(store);
  RETURN_IF_ERROR(server->Start(AbsolutePath(directory)));
  return std::unique_ptr<StoreServer>(std::move(server));
}

}  // namespace galley::store
