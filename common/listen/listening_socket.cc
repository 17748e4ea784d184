#include "common/listen/listening_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::listen {
namespace {

absl::Status CannotListen(std::string_view address, std::string_view why) {
  return UnavailableError("{} cannot be listened on: {}", address, why);
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  in_port_t& port() {
    return family() == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                                : reinterpret_cast<sockaddr_in&>(storage).sin_port;
  }
  bool is_wildcard() const {
    if (family() == AF_INET6) {
      const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
      return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr);
    }
    return reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr == INADDR_ANY;
  }
};

SocketAddress AnyV6() {
  SocketAddress any{.storage = {}, .size = sizeof(sockaddr_in6)};
  any.storage.ss_family = AF_INET6;
  return any;
}

// errno says why not.
FileDescriptor Listen(const SocketAddress& address) {
  FileDescriptor server(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!server.valid()) return server;
  const int yes = 1, no = 0;
  if (address.family() != AF_UNIX)
    ::setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (address.family() == AF_INET6)
    ::setsockopt(server.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  if (::bind(server.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) !=
          0 ||
      ::listen(server.get(), SOMAXCONN) != 0) {
    const int error = errno;
    server.Reset();
    errno = error;
  }
  return server;
}

absl::StatusOr<std::vector<SocketAddress>> Resolve(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return CannotListen(address, "expected HOST:PORT");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found);
  if (error != 0) return CannotListen(address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress& resolved = addresses.emplace_back();
    resolved.size = one->ai_addrlen;
    std::memcpy(&resolved.storage, one->ai_addr, one->ai_addrlen);
  }
  return addresses;
}

uint16_t PortOf(const FileDescriptor& server) {
  SocketAddress own;
  own.size = sizeof(own.storage);
  ::getsockname(server.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.size);
  return ntohs(own.port());
}

}  // namespace

absl::StatusOr<TcpSockets> ListenOnTcp(const std::string& address) {
  ASSIGN_OR_RETURN(const std::vector<SocketAddress> resolved, Resolve(address));
  TcpSockets listening;
  std::string why;
  for (SocketAddress one : resolved) {
    if (listening.port != 0) one.port() = htons(listening.port);
    FileDescriptor server;
    if (one.is_wildcard()) {
      SocketAddress any = AnyV6();
      any.port() = one.port();
      server = Listen(any);
    }
    // A machine without IPv6 has only the other.
    if (!server.valid() && (!one.is_wildcard() || errno != EADDRINUSE)) server = Listen(one);
    if (!server.valid()) {
      why = std::strerror(errno);
      continue;
    }
    listening.port = PortOf(server);
    listening.sockets.push_back(std::move(server));
    if (one.is_wildcard()) break;
  }
  if (listening.sockets.empty()) return CannotListen(address, why);
  return listening;
}

absl::StatusOr<FileDescriptor> ListenOnUnix(const std::string& path) {
  const std::string address = "unix:" + path;
  SocketAddress own;
  auto& unix_address = reinterpret_cast<sockaddr_un&>(own.storage);
  if (path.size() >= sizeof(unix_address.sun_path))
    return CannotListen(address, "the path is too long for a socket");
  unix_address.sun_family = AF_UNIX;
  std::memcpy(unix_address.sun_path, path.data(), path.size());
  own.size = sizeof(unix_address);
  FileDescriptor server = Listen(own);
  if (!server.valid()) return CannotListen(address, std::strerror(errno));
  return server;
}

}  // namespace galley::listen
