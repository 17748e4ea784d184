// LoopbackPeer: a server on loopback with one connection at a time, on any system. Each call waits
// until it is done.
#pragma once

#ifdef _WIN32
#include "common/vfs/win32.h"
// Behind winsock2.h.
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <cstdint>
#include <string>

namespace galley::vfs {

class LoopbackPeer {
 public:
#ifdef _WIN32
  using Socket = SOCKET;
  using Length = int;
  static constexpr Socket kNone = INVALID_SOCKET;
  static void CloseSocket(Socket socket) { ::closesocket(socket); }
#else
  using Socket = int;
  using Length = socklen_t;
  static constexpr Socket kNone = -1;
  static void CloseSocket(Socket socket) { ::close(socket); }
#endif

  LoopbackPeer() {
#ifdef _WIN32
    WSADATA facts{};
    static_cast<void>(::WSAStartup(MAKEWORD(2, 2), &facts));
#endif
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Length size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    is_ready_ = ::bind(listener_, any, size) == 0 && ::listen(listener_, 4) == 0 &&
                ::getsockname(listener_, any, &size) == 0;
    port_ = ntohs(address.sin_port);
  }
  LoopbackPeer(const LoopbackPeer&) = delete;
  LoopbackPeer& operator=(const LoopbackPeer&) = delete;
  ~LoopbackPeer() {
    Close();
    StopListening();
  }

  bool is_ready() const { return is_ready_; }
  uint16_t port() const { return port_; }
  bool Accept() {
    connection_ = ::accept(listener_, nullptr, nullptr);
    return connection_ != kNone;
  }
  bool Send(const std::string& bytes) {
    const int64_t sent = ::send(connection_, bytes.data(), static_cast<Length>(bytes.size()), 0);
    return sent == static_cast<int64_t>(bytes.size());
  }
  // Exactly so many bytes, or what there is before the end.
  std::string Receive(size_t size) {
    std::string bytes;
    char byte = 0;
    while (bytes.size() < size && ::recv(connection_, &byte, 1, 0) == 1) bytes += byte;
    return bytes;
  }
  void Close() { End(connection_); }
  // The other side's bytes are thrown away, and it is told that the connection is broken.
  void Break() {
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    static_cast<void>(::setsockopt(connection_, SOL_SOCKET, SO_LINGER,
                                   reinterpret_cast<const char*>(&at_once), sizeof at_once));
    Close();
  }
  void StopListening() { End(listener_); }

 private:
  static void End(Socket& socket) {
    if (socket != kNone) CloseSocket(socket);
    socket = kNone;
  }

  Socket listener_ = kNone, connection_ = kNone;
  bool is_ready_ = false;
  uint16_t port_ = 0;
};

}  // namespace galley::vfs
