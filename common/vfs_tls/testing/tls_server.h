// TlsServer: a server on loopback, one connection after the other in a thread of its own, that
// treats each one as the test says.
//
// Threads: the test's and its own.
#pragma once

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/vfs_tls/net_bio.h"
#include "gtest/gtest.h"

namespace galley::vfs_tls {

class TlsServer {
 public:
  // Treats a connection, and returns when it is over. The descriptor is closed for it.
  using Treat = std::function<void(int descriptor)>;

  explicit TlsServer(Treat treat) : treat_(std::move(treat)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    ::shutdown(listener_, SHUT_RDWR);
    {
      const std::lock_guard lock(mutex_);
      if (treated_ >= 0) ::shutdown(treated_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
  }
  uint16_t port() const { return port_; }

 private:
  // A client that hangs up ends `treat_`; one that never does is cut off after a while.
  void Run() {
    sigset_t broken_pipes;  // OpenSSL writes to a client that is gone
    sigemptyset(&broken_pipes);
    sigaddset(&broken_pipes, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipes, nullptr);
    while (true) {
      const int descriptor = ::accept(listener_, nullptr, nullptr);
      if (descriptor < 0) return;
      const timeval limit{.tv_sec = 60, .tv_usec = 0};
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
      SetTreated(descriptor);
      treat_(descriptor);
      SetTreated(-1);
      ::close(descriptor);
    }
  }

  void SetTreated(int descriptor) {
    const std::lock_guard lock(mutex_);
    treated_ = descriptor;
  }

  const Treat treat_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  int treated_ = -1;  // guarded by mutex_
  std::thread thread_;
};

// ServerTls: the server's side of TLS, with this certificate and key (PEM).
struct ServerTls {
  using ContextPointer = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
  using ConnectionPointer = std::unique_ptr<SSL, FreedBy<SSL_free>>;

  ServerTls(const std::string& certificate, const std::string& key)
      : context(SSL_CTX_new(TLS_server_method())) {
    const BioPointer cert_in(
        BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
    const BioPointer key_in(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
    X509* const x509 = PEM_read_bio_X509(cert_in.get(), nullptr, nullptr, nullptr);
    EVP_PKEY* const pkey = PEM_read_bio_PrivateKey(key_in.get(), nullptr, nullptr, nullptr);
    EXPECT_EQ(SSL_CTX_use_certificate(context.get(), x509), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), pkey), 1);
    X509_free(x509);
    EVP_PKEY_free(pkey);
  }
  // nullptr: the client went away, or does not like the server.
  ConnectionPointer Accept(int descriptor) const {
    ConnectionPointer made(SSL_new(context.get()));
    SSL_set_fd(made.get(), descriptor);
    const bool is_done = SSL_accept(made.get()) == 1;
    ERR_clear_error();
    return is_done ? std::move(made) : nullptr;
  }
  // Gives back what comes, until the client is gone, or has sent `until` in one piece.
  static void Echo(SSL* connection, std::string_view until = "") {
    std::array<char, 4'096> bytes{};
    while (true) {
      const int got = SSL_read(connection, bytes.data(), static_cast<int>(bytes.size()));
      if (got <= 0) break;
      if (std::string_view(bytes.data(), static_cast<size_t>(got)) == until) break;
      if (SSL_write(connection, bytes.data(), got) <= 0) break;
    }
    ERR_clear_error();
  }

  ContextPointer context;
};

}  // namespace galley::vfs_tls
