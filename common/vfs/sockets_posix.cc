#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "common/vfs/address_book.h"
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

// `flags`: AI_NUMERICHOST: nothing is looked up.
Addresses Resolve(const std::string& host, uint16_t port, int flags, int& failed) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  return Addresses(failed == 0 ? found : nullptr, &::freeaddrinfo);
}

// Has no limit of time where `host` is a name.
AddressBook::Found LookUp(const std::string& host) {
  int failed = 0;
  Addresses found = Resolve(host, 1, AI_NUMERICHOST, failed);
  if (failed == EAI_NONAME) found = Resolve(host, 1, AI_ADDRCONFIG, failed);
  AddressBook::Found book;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      book.addresses.emplace_back(text.data());
  }
  if (book.addresses.empty()) book.error = ::gai_strerror(failed == 0 ? EAI_NONAME : failed);
  return book;
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
#ifdef TCP_USER_TIMEOUT
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000);  // the same for a request that nobody acknowledges
#endif
}

// Connects to an address; -1: `error` says why.
int OpenAddress(const std::string& address, uint16_t port, Time until, int& error) {
  int failed = 0;
  const Addresses one = Resolve(address, port, AI_NUMERICHOST, failed);
  error = EHOSTUNREACH;
  return one == nullptr ? -1 : Open(*one, until, error);
}

uint64_t MillisecondsOf(Time time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

// The time is shared by all addresses, so that one that is silent leaves some for the next.
void* Connect(void* context, const char* host, uint16_t port, int timeout_ms, char* text,
              size_t text_size) {
  AddressBook own;
  AddressBook& book = context == nullptr ? own : *static_cast<AddressBook*>(context);
  const Time begin = Time::clock::now();
  const Time end = begin + std::chrono::milliseconds(timeout_ms);
  const AddressBook::Found found = book.Find(host, MillisecondsOf(begin), &LookUp);
  if (found.addresses.empty()) {
    std::snprintf(text, text_size, "%s", found.error.c_str());
    return nullptr;
  }
  int error = EHOSTUNREACH;
  auto left = static_cast<int>(found.addresses.size());
  for (const std::string& address : found.addresses) {
    const Time now = Time::clock::now();
    const int descriptor =
        OpenAddress(address, port, now + std::max(end - now, Time::duration(0)) / left--, error);
    if (descriptor < 0) continue;
    SetOptions(descriptor);
    return new Connection{descriptor};
  }
  book.NoteUnreached(host);
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
