#include "director/serve/running_cook.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/wire/channel.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {
namespace {

// Longer than the director takes to say that it is too busy.
constexpr std::chrono::seconds kAskWait{7};

// The socket may be a link to one with a shorter path.
std::string SocketOf(const std::string& path) {
  char target[sizeof(sockaddr_un::sun_path)];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof(target) - 1);
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : path;
}

// False also of a socket that a dead director left.
bool SomebodyListens(const std::string& socket_path) {
  sockaddr_un address{};
  if (socket_path.size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return socket.valid() &&
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

class RemoteCook final : public RunningCook {
 public:
  explicit RemoteCook(const std::string& address)
      : stub_(v1::Director::NewStub(wire::OpenChannel(address))) {}

  absl::StatusOr<v1::PackageAnswer> Ask(const std::string& package, size_t limit) override {
    std::vector<v1::PackageAnswer::Reason> reasons;  // of all pages
    v1::PackageQuestion question;
    question.set_package(package);
    while (true) {
      question.set_limit(static_cast<uint32_t>(limit - reasons.size()));
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kAskWait);
      v1::PackageAnswer page;
      const grpc::Status status = stub_->Ask(&context, question, &page);
      if (!status.ok()) return wire::FromGrpc(status);
      reasons.insert(reasons.end(), page.reasons().begin(), page.reasons().end());
      if (page.next_cook() == 0 || reasons.size() >= limit) {
        page.mutable_reasons()->Assign(reasons.begin(), reasons.end());
        return page;
      }
      question.set_cook(page.next_cook());
      question.set_reason(page.next_reason());
    }
  }

 private:
  const std::unique_ptr<v1::Director::Stub> stub_;
};

}  // namespace

std::unique_ptr<RunningCook> RunningCook::Find(const std::string& socket_path) {
  const std::string path = SocketOf(socket_path);
  if (!SomebodyListens(path)) return nullptr;
  return std::make_unique<RemoteCook>("unix:" + path);
}

}  // namespace galley::director
