#include "common/vfs/sockets.h"

#include "common/vfs/address_book.h"
#include "common/vfs/win32.h"
// Behind winsock2.h.
#include <mstcpip.h>
#include <ws2tcpip.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <memory>
#include <string>

namespace galley::vfs {
namespace {

struct Connection {
  SOCKET socket = INVALID_SOCKET;
};

using Time = std::chrono::steady_clock::time_point;

enum class Awaited { kReadable, kWritable };

DWORD LastError() { return static_cast<DWORD>(::WSAGetLastError()); }

// Begins Winsock when the first connection is made, and never ends it. Returns 0, or the error.
int BeginWinsock() {
  static const int error = [] {
    WSADATA facts{};
    return ::WSAStartup(MAKEWORD(2, 2), &facts);
  }();
  return error;
}

timeval TimeTo(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Time::clock::now());
  const auto ms = static_cast<long>(std::clamp<int64_t>(left.count(), 0, LONG_MAX / 2));
  return {.tv_sec = ms / 1'000, .tv_usec = ms % 1'000 * 1'000};
}

// False: the time has passed. WSAPoll tells of no connection that failed before Windows 10 2004.
bool AwaitEvent(SOCKET socket, Awaited awaited, Time until) {
  const fd_set one = {.fd_count = 1, .fd_array = {socket}};
  fd_set ready = one, failed = one;
  timeval left = TimeTo(until);
  const int count = awaited == Awaited::kReadable ? ::select(0, &ready, nullptr, &failed, &left)
                                                  : ::select(0, nullptr, &ready, &failed, &left);
  return count != 0;  // after an error, the call that follows says what is wrong
}

// 0, or the system's error.
DWORD ConnectTo(SOCKET socket, const addrinfo& address, Time until) {
  if (::connect(socket, address.ai_addr, static_cast<int>(address.ai_addrlen)) == 0) return 0;
  if (const DWORD error = LastError(); error != WSAEWOULDBLOCK) return error;
  if (!AwaitEvent(socket, Awaited::kWritable, until)) return WSAETIMEDOUT;
  DWORD error = 0;
  int size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&error), &size) != 0)
    return LastError();
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
  int failed = BeginWinsock();
  AddressBook::Found book;
  if (failed != 0) {
    book.error = TextOfError(static_cast<DWORD>(failed));
    return book;
  }
  Addresses found = Resolve(host, 1, AI_NUMERICHOST, failed);
  if (failed == EAI_NONAME) found = Resolve(host, 1, AI_ADDRCONFIG, failed);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(one->ai_addr, static_cast<socklen_t>(one->ai_addrlen), text.data(),
                      static_cast<DWORD>(text.size()), nullptr, 0, NI_NUMERICHOST) == 0)
      book.addresses.emplace_back(text.data());
  }
  if (book.addresses.empty())
    book.error = TextOfError(static_cast<DWORD>(failed == 0 ? EAI_NONAME : failed));
  return book;
}

// INVALID_SOCKET: `error` says why.
SOCKET Open(const addrinfo& address, Time until, DWORD& error) {
  const SOCKET socket = ::WSASocketW(address.ai_family, address.ai_socktype, address.ai_protocol,
                                     nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (socket == INVALID_SOCKET) {
    error = LastError();
    return INVALID_SOCKET;
  }
  u_long is_nonblocking = 1;
  error = ::ioctlsocket(socket, static_cast<long>(FIONBIO), &is_nonblocking) == 0
              ? ConnectTo(socket, address, until)
              : LastError();
  if (error == 0) return socket;
  ::closesocket(socket);
  return INVALID_SOCKET;
}

// A peer that is gone without a word is noticed, also while a cook is waited for.
void SetOptions(SOCKET socket) {
  const int is_on = 1;
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY,
                                 reinterpret_cast<const char*>(&is_on), sizeof is_on));
  tcp_keepalive alive = {.onoff = 1, .keepalivetime = 10'000, .keepaliveinterval = 5'000};
  DWORD returned = 0;
  static_cast<void>(::WSAIoctl(socket, SIO_KEEPALIVE_VALS, &alive, sizeof alive, nullptr, 0,
                               &returned, nullptr, nullptr));
}

// Connects to an address; INVALID_SOCKET: `error` says why.
SOCKET OpenAddress(const std::string& address, uint16_t port, Time until, DWORD& error) {
  int failed = 0;
  const Addresses one = Resolve(address, port, AI_NUMERICHOST, failed);
  error = WSAEHOSTUNREACH;
  return one == nullptr ? INVALID_SOCKET : Open(*one, until, error);
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
  DWORD error = WSAEHOSTUNREACH;
  auto left = static_cast<int>(found.addresses.size());
  for (const std::string& address : found.addresses) {
    const Time now = Time::clock::now();
    const SOCKET socket =
        OpenAddress(address, port, now + std::max(end - now, Time::duration(0)) / left--, error);
    if (socket == INVALID_SOCKET) continue;
    SetOptions(socket);
    return new Connection{socket};
  }
  book.NoteUnreached(host);
  std::snprintf(text, text_size, "%s", TextOfError(error).c_str());
  return nullptr;
}

// `act` is send or recv.
template <typename Act>
ptrdiff_t Transfer(void* connection, Awaited awaited, int timeout_ms, const Act& act) {
  const SOCKET socket = static_cast<Connection*>(connection)->socket;
  const Time until = Time::clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const int done = act(socket);
    if (done >= 0) return done;
    if (LastError() != WSAEWOULDBLOCK) return -2;
    if (!AwaitEvent(socket, awaited, until)) return -1;
  }
}

int SizeOf(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

ptrdiff_t Send(void*, void* connection, const void* bytes, size_t size, int timeout_ms) {
  return Transfer(connection, Awaited::kWritable, timeout_ms, [&](SOCKET socket) {
    return ::send(socket, static_cast<const char*>(bytes), SizeOf(size), 0);
  });
}

ptrdiff_t Receive(void*, void* connection, void* buffer, size_t size, int timeout_ms) {
  return Transfer(connection, Awaited::kReadable, timeout_ms, [&](SOCKET socket) {
    return ::recv(socket, static_cast<char*>(buffer), SizeOf(size), 0);
  });
}

void Close(void*, void* connection) {
  const std::unique_ptr<Connection> closed(static_cast<Connection*>(connection));
  ::closesocket(closed->socket);
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
