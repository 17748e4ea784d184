#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "common/vfs/sockets.h"

namespace galley::vfs {
namespace {

struct Connection {
  int descriptor = -1;
};

using Time = std::chrono::steady_clock::time_point;

int MillisecondsTo(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Time::clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

// False: the time has passed.
bool AwaitEvent(int descriptor, short event, Time until) {
  pollfd one{.fd = descriptor, .events = event, .revents = 0};
  while (true) {
    const int count = ::poll(&one, 1, MillisecondsTo(until));
    if (count >= 0) return count > 0;
    if (errno != EINTR) return true;  // the call that follows says what is wrong
  }
}

// 0, or the system's error.
int ConnectTo(int descriptor, const addrinfo& address, Time until) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!AwaitEvent(descriptor, POLLOUT, until)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void* Connect(void*, const char* host, uint16_t port, int timeout_ms, char* text,
              size_t text_size) {
  const Time until = Time::clock::now() + std::chrono::milliseconds(timeout_ms);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host, std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) {
    std::snprintf(text, text_size, "%s", ::gai_strerror(failed));
    return nullptr;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  int error = EHOSTUNREACH;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int descriptor =
        ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
    if (descriptor < 0) {
      error = errno;
      continue;
    }
    error = ConnectTo(descriptor, *one, until);
    if (error == 0) {
      const int on = 1;
      static_cast<void>(::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
      return new Connection{descriptor};
    }
    ::close(descriptor);
  }
  std::snprintf(text, text_size, "%s", std::generic_category().message(error).c_str());
  return nullptr;
}

// `act` is send or recv.
template <typename Act>
ptrdiff_t Transfer(void* connection, short event, int timeout_ms, const Act& act) {
  const int descriptor = static_cast<Connection*>(connection)->descriptor;
  const Time until = Time::clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const ssize_t done = act(descriptor);
    if (done >= 0) return done;
    if (errno == EINTR) continue;
    if (errno == ECONNRESET || errno == EPIPE) return -2;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -2;
    if (!AwaitEvent(descriptor, event, until)) return -1;
  }
}

ptrdiff_t Send(void*, void* connection, const void* bytes, size_t size, int timeout_ms) {
  return Transfer(connection, POLLOUT, timeout_ms,
                  [&](int descriptor) { return ::send(descriptor, bytes, size, MSG_NOSIGNAL); });
}

ptrdiff_t Receive(void*, void* connection, void* buffer, size_t size, int timeout_ms) {
  return Transfer(connection, POLLIN, timeout_ms,
                  [&](int descriptor) { return ::recv(descriptor, buffer, size, 0); });
}

void Close(void*, void* connection) {
  const std::unique_ptr<Connection> closed(static_cast<Connection*>(connection));
  ::close(closed->descriptor);
}

}  // namespace

galley_vfs_net PlainNet() {
  return {.struct_size = sizeof(galley_vfs_net),
          .context = nullptr,
          .connect = &Connect,
          .send = &Send,
          .receive = &Receive,
          .close = &Close};
}

}  // namespace galley::vfs
