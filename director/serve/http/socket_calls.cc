#include "director/serve/http/socket_calls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace galley::director {
namespace {

// IPv4 in IPv6, as a socket for both has it, is written as IPv4.
std::string TextOfAddress(const sockaddr_storage& storage) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
    } else {
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    }
  }
  return text.data();
}

bool IsExhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

AcceptedSocket AcceptFrom(int listening) {
  while (true) {
    sockaddr_storage storage{};
    socklen_t size = sizeof(storage);
    const int fd = ::accept4(listening, reinterpret_cast<sockaddr*>(&storage), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      const int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      return {.socket = FileDescriptor(fd), .peer = TextOfAddress(storage)};
    }
    // A connection that broke before it was accepted says nothing about the next one.
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    return {.is_exhausted = IsExhaustion(errno)};
  }
}

bool HasPeerEnded(int socket) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  return info.tcpi_state != TCP_ESTABLISHED;
}

}  // namespace galley::director
