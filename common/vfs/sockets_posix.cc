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

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// An address is not looked up; a name is, and that has no limit of time.
Addresses Resolve(const char* host, uint16_t port, int& failed) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  failed = ::getaddrinfo(host, service.c_str(), &wanted, &found);
  if (failed == EAI_NONAME) {
    wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
    failed = ::getaddrinfo(host, service.c_str(), &wanted, &found);
  }
  return Addresses(failed == 0 ? found : nullptr, &::freeaddrinfo);
}

// -1: `error` says why.
int Open(const addrinfo& address, Time until, int& error) {
  const int descriptor = ::socket(
      address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (descriptor < 0) {
    error = errno;
    return -1;
  }
  error = ConnectTo(descriptor, address, until);
  if (error == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// A peer that is gone without a word is noticed, also while a cook is waited for.
void SetOptions(int descriptor) {
  const auto set = [&](int level, int name, int value) {
    static_cast<void>(::setsockopt(descriptor, level, name, &value, sizeof value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
}

// The time is shared by all addresses, so that one that is silent leaves some for the next.
void* Connect(void*, const char* host, uint16_t port, int timeout_ms, char* text,
              size_t text_size) {
  int failed = 0;
  const Addresses addresses = Resolve(host, port, failed);
  if (addresses == nullptr) {
    std::snprintf(text, text_size, "%s", ::gai_strerror(failed));
    return nullptr;
  }
  int count = 0;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) ++count;
  int error = EHOSTUNREACH;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    const Time until = Time::clock::now() + std::chrono::milliseconds(timeout_ms / count);
    const int descriptor = Open(*one, until, error);
    if (descriptor < 0) continue;
    SetOptions(descriptor);
    return new Connection{descriptor};
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
