#include "director/serve/socket_probe.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/file.h"

namespace galley::director {
namespace {

std::string TargetOf(const std::string& path) {
  char target[sizeof(sockaddr_un::sun_path)];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof(target) - 1);
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : path;
}

// Returns the process that called listen. Source: SO_PEERCRED in unix(7).
pid_t ListenerOf(const FileDescriptor& connected) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool is_told = ::getsockopt(connected.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_told ? peer.pid : 0;
}

Listening Probe(const std::string& path, pid_t& process) {
  sockaddr_un address{};
  if (path.size() >= sizeof(address.sun_path)) return Listening::kNobody;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return Listening::kNobody;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    process = ListenerOf(socket);
    return Listening::kSomebody;
  }
  // EAGAIN: the process listens, and has not accepted the connections before ours yet.
  if (errno == EAGAIN) return Listening::kSomebody;
  return errno == EACCES || errno == EPERM ? Listening::kForbidden : Listening::kNobody;
}

}  // namespace

SocketProbe ProbeSocket(const std::string& socket_path) {
  SocketProbe probe{.path = TargetOf(socket_path)};
  probe.listening = Probe(probe.path, probe.process);
  return probe;
}

}  // namespace galley::director
