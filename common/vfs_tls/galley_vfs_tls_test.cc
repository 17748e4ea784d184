#include "common/vfs_tls/galley_vfs_tls.h"

#include <openssl/sha.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/vfs/sockets.h"
#include "common/vfs_tls/testing/tls_server.h"
#include "common/wire/testing/self_signed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs_tls {
namespace {

using testing::HasSubstr;
using testing::Le;
using wire::SelfSigned;

constexpr int kLongMs = 60'000;  // what is expected to happen happens within it
constexpr int kShortMs = 100;    // what is expected not to happen is waited for so long
constexpr const char* kLocal = "IP:127.0.0.1,DNS:localhost";

// The SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
std::string FingerprintOf(const std::string& certificate) {
  const BioPointer in(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
  X509* const x509 = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr);
  std::array<unsigned char, 32> hash{};
  X509_digest(x509, EVP_sha256(), hash.data(), nullptr);
  X509_free(x509);
  std::string text;
  for (const unsigned char byte : hash) {
    std::array<char, 4> pair{};
    std::snprintf(pair.data(), pair.size(), "%02X", byte);
    text += (text.empty() ? "" : ":") + std::string(pair.data());
  }
  return text;
}

std::string WithoutColons(std::string text) {
  std::erase(text, ':');
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class GalleyVfsTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "galley_vfs_tls_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    Close();
    galley_vfs_tls_destroy(&net_);
    std::filesystem::remove_all(folder_);
  }
  std::string FileWith(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  // A server that gives back what it gets, and says the end in order, by the certificate `own`.
  static TlsServer::Treat EchoBy(const SelfSigned& own) {
    return [tls = std::make_shared<ServerTls>(own.certificate, own.key)](int descriptor) {
      const auto connection = tls->Accept(descriptor);
      if (connection == nullptr) return;
      ServerTls::Echo(connection.get(), "the end");
      SSL_shutdown(connection.get());
    };
  }

  int Create(galley_vfs_tls_options options) {
    galley_vfs_tls_destroy(&net_);
    options.struct_size = sizeof options;
    text_.assign(256, '\0');
    const int result = galley_vfs_tls_create(&options, &net_, text_.data(), text_.size());
    text_ = text_.c_str();
    return result;
  }
  int Trusting(const std::string& certificate) {
    const std::string file = FileWith("ca.pem", certificate);
    return Create({.ca_file = file.c_str()});
  }
  int Pinning(const std::string& pin) { return Create({.pinned_sha256 = pin.c_str()}); }

  // Empty: it is connected.
  std::string Connect(const TlsServer& server, int timeout_ms = kLongMs,
                      const char* host = "127.0.0.1") {
    Close();
    std::string text(256, '\0');
    connection_ =
        net_.connect(net_.context, host, server.port(), timeout_ms, text.data(), text.size());
    text = text.c_str();
    EXPECT_EQ(connection_ == nullptr, !text.empty());
    EXPECT_THAT(text.size(), Le(240u)) << "whoever connects has room for so much";
    return text;
  }
  void Close() {
    if (connection_ != nullptr) net_.close(net_.context, connection_);
    connection_ = nullptr;
  }
  ptrdiff_t Send(const std::string& bytes, int timeout_ms = kLongMs) {
    return net_.send(net_.context, connection_, bytes.data(), bytes.size(), timeout_ms);
  }
  ptrdiff_t Receive(std::string& bytes, int timeout_ms = kLongMs) {
    bytes.resize(10'000);
    const ptrdiff_t got =
        net_.receive(net_.context, connection_, bytes.data(), bytes.size(), timeout_ms);
    bytes.resize(static_cast<size_t>(std::max<ptrdiff_t>(got, 0)));
    return got;
  }
  std::string Echo(const std::string& bytes) {
    std::string whole, piece;
    EXPECT_EQ(Send(bytes), static_cast<ptrdiff_t>(bytes.size()));
    while (whole.size() < bytes.size() && Receive(piece) > 0) whole += piece;
    return whole;
  }

  std::filesystem::path folder_;
  galley_vfs_net net_{};
  std::string text_;
  void* connection_ = nullptr;
};

TEST_F(GalleyVfsTlsTest, BytesGoBothWaysAndTheEndIsTold) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const TlsServer server(EchoBy(own));
  ASSERT_EQ(Trusting(own.certificate), GALLEY_VFS_OK) << text_;
  ASSERT_EQ(Connect(server), "");
  EXPECT_EQ(Echo("GET / HTTP/1.1"), "GET / HTTP/1.1");
  std::string bytes;
  EXPECT_EQ(Receive(bytes, kShortMs), -1) << "nothing comes";
  EXPECT_EQ(Receive(bytes, 0), -1) << "nothing is waited for";
  EXPECT_EQ(Echo("and again"), "and again");
  Send("the end");
  EXPECT_EQ(Receive(bytes), 0);
  ASSERT_EQ(Connect(server, kLongMs, "localhost"), "") << "a name of the certificate";
  EXPECT_EQ(Echo("by name"), "by name");
}

TEST_F(GalleyVfsTlsTest, AServerThatTakesNothingIsWaitedForAndThenSentTheRest) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const std::string all(64 << 20, 'x');
  std::atomic<bool> may_read = false;
  const ServerTls tls(own.certificate, own.key);
  const TlsServer server([&](int descriptor) {
    const auto connection = tls.Accept(descriptor);
    ASSERT_NE(connection, nullptr);
    may_read.wait(false);
    std::array<char, 16'384> bytes{};
    size_t taken = 0;
    for (int got = 1; got > 0 && taken < all.size(); taken += static_cast<size_t>(got))
      got = std::max(SSL_read(connection.get(), bytes.data(), 16'384), 0);
    EXPECT_EQ(taken, all.size());
    SSL_write(connection.get(), "all", 3);
    ERR_clear_error();
  });
  ASSERT_EQ(Trusting(own.certificate), GALLEY_VFS_OK) << text_;
  ASSERT_EQ(Connect(server), "");
  size_t sent = 0;
  ptrdiff_t last = 0;
  const auto send_rest = [&](int timeout_ms) {
    last = net_.send(net_.context, connection_, all.data() + sent, all.size() - sent, timeout_ms);
    sent += static_cast<size_t>(std::max<ptrdiff_t>(last, 0));
    return last > 0;
  };
  while (send_rest(kShortMs)) continue;
  EXPECT_EQ(last, -1);
  may_read = true;
  may_read.notify_all();
  while (sent < all.size() && send_rest(kLongMs)) continue;
  EXPECT_EQ(sent, all.size());
  std::string answer;
  EXPECT_EQ(Receive(answer), 3);
  EXPECT_EQ(answer, "all");
}

TEST_F(GalleyVfsTlsTest, CertificatesThatAreRefused) {
  const SelfSigned other = wire::MakeSelfSigned("DNS:studio.example");
  const TlsServer another(EchoBy(other));
  ASSERT_EQ(Trusting(other.certificate), GALLEY_VFS_OK) << text_;
  EXPECT_THAT(Connect(another), HasSubstr("not for the host of the URL, but for studio.example"));
  EXPECT_THAT(Connect(another, kLongMs, "localhost"), HasSubstr("not for the host of the URL"));

  const SelfSigned old = wire::MakeSelfSigned(kLocal, 0);
  const TlsServer expired(EchoBy(old));
  ASSERT_EQ(Trusting(old.certificate), GALLEY_VFS_OK) << text_;
  EXPECT_THAT(Connect(expired), HasSubstr("has expired"));

  const TlsServer foreign(EchoBy(wire::MakeSelfSigned(kLocal)));
  EXPECT_THAT(Connect(foreign), HasSubstr("not of an authority that is trusted here"));
  ASSERT_EQ(Create({}), GALLEY_VFS_OK) << text_;
  EXPECT_THAT(Connect(foreign), HasSubstr("not of an authority that is trusted here"));
}

TEST_F(GalleyVfsTlsTest, APinAcceptsOneCertificateWhateverItsNameAndDates) {
  const SelfSigned own = wire::MakeSelfSigned("DNS:studio.example", 0);
  const std::string fingerprint = FingerprintOf(own.certificate);
  const TlsServer server(EchoBy(own));
  for (const std::string& pin : {fingerprint, WithoutColons(fingerprint)}) {
    ASSERT_EQ(Pinning(pin), GALLEY_VFS_OK) << text_;
    ASSERT_EQ(Connect(server), "");
    EXPECT_EQ(Echo("hello"), "hello");
    Close();
  }
  const SelfSigned twin = wire::MakeSelfSigned("DNS:studio.example", 0);
  const std::string wanted = FingerprintOf(twin.certificate);
  ASSERT_EQ(Pinning(wanted), GALLEY_VFS_OK) << text_;
  EXPECT_EQ(Connect(server), "the certificate is not the pinned one: expected " +
                                 WithoutColons(wanted) + ", got " + WithoutColons(fingerprint));
}

TEST_F(GalleyVfsTlsTest, ServersThatDoNotSpeakTls) {
  ASSERT_EQ(Create({}), GALLEY_VFS_OK) << text_;
  const TlsServer plain([](int descriptor) {
    std::array<char, 4'096> bytes{};
    static_cast<void>(::recv(descriptor, bytes.data(), bytes.size(), 0));
    const std::string answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    static_cast<void>(::send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL));
    while (::recv(descriptor, bytes.data(), bytes.size(), 0) > 0) continue;
  });
  EXPECT_THAT(Connect(plain), HasSubstr("does not speak TLS"));

  const TlsServer cut([](int descriptor) {
    std::array<char, 4'096> bytes{};
    static_cast<void>(::recv(descriptor, bytes.data(), bytes.size(), 0));
  });
  EXPECT_THAT(Connect(cut), HasSubstr("the connection ended in the TLS handshake"));

  const TlsServer silent([](int descriptor) {
    std::array<char, 4'096> bytes{};
    while (::recv(descriptor, bytes.data(), bytes.size(), 0) > 0) continue;
  });
  EXPECT_THAT(Connect(silent, kShortMs), HasSubstr("the TLS handshake was not done in time"));

  uint16_t free_port = 0;
  {
    const TlsServer gone([](int) {});
    free_port = gone.port();
  }
  std::string text(256, '\0');
  EXPECT_EQ(net_.connect(net_.context, "127.0.0.1", free_port, kLongMs, text.data(), text.size()),
            nullptr);
  EXPECT_THAT(text, HasSubstr("refused")) << "what the connection under it says";
}

TEST_F(GalleyVfsTlsTest, AConnectionThatIsCutIsNoEnd) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const ServerTls tls(own.certificate, own.key);
  const TlsServer server([&](int descriptor) {
    const auto connection = tls.Accept(descriptor);
    ASSERT_NE(connection, nullptr);
    ServerTls::Echo(connection.get(), "cut");  // and no word about the end
  });
  ASSERT_EQ(Trusting(own.certificate), GALLEY_VFS_OK) << text_;
  ASSERT_EQ(Connect(server), "");
  EXPECT_EQ(Echo("half of"), "half of");
  Send("cut");
  std::string bytes;
  EXPECT_EQ(Receive(bytes), -2);
  EXPECT_EQ(Receive(bytes), -2) << "it stays broken";
  EXPECT_EQ(Send("more"), -2);
}

TEST_F(GalleyVfsTlsTest, OlderVersionsOfTlsAreRefused) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const auto tls = std::make_shared<ServerTls>(own.certificate, own.key);
  SSL_CTX_set_security_level(tls->context.get(), 0);
  SSL_CTX_set_min_proto_version(tls->context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(tls->context.get(), TLS1_1_VERSION);
  const TlsServer server([&](int descriptor) { tls->Accept(descriptor); });
  ASSERT_EQ(Trusting(own.certificate), GALLEY_VFS_OK) << text_;
  EXPECT_THAT(Connect(server), HasSubstr("protocol version"));
}

TEST_F(GalleyVfsTlsTest, AServerThatWantsACertificateGetsOne) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal), client = wire::MakeSelfSigned("DNS:phone");
  const auto tls = std::make_shared<ServerTls>(own.certificate, own.key);
  SSL_CTX_set_verify(tls->context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     [](int, X509_STORE_CTX*) { return 1; });
  const TlsServer server([&](int descriptor) {
    if (const auto connection = tls->Accept(descriptor)) ServerTls::Echo(connection.get());
  });
  const std::string ca = FileWith("ca.pem", own.certificate);
  const std::string certificate = FileWith("client.pem", client.certificate);
  const std::string key = FileWith("client.key", client.key);
  ASSERT_EQ(Create({.ca_file = ca.c_str(),
                    .certificate_file = certificate.c_str(),
                    .key_file = key.c_str()}),
            GALLEY_VFS_OK)
      << text_;
  ASSERT_EQ(Connect(server), "");
  EXPECT_EQ(Echo("it is me"), "it is me");
}

// Limited: plain sockets that take note of the longest time that they were allowed to wait.
struct Limited {
  galley_vfs_net under = vfs::PlainNet();
  std::atomic<int> longest_ms = 0, transfers = 0;

  galley_vfs_net Net() {
    return {.struct_size = sizeof(galley_vfs_net),
            .context = this,
            .connect = [](void* self, const char* host, uint16_t port, int timeout_ms, char* text,
                          size_t size) -> void* {
              return static_cast<Limited*>(self)->under.connect(nullptr, host, port, timeout_ms,
                                                                text, size);
            },
            .send = [](void* self, void* connection, const void* bytes, size_t size,
                       int timeout_ms) -> ptrdiff_t {
              static_cast<Limited*>(self)->Note(timeout_ms);
              return static_cast<Limited*>(self)->under.send(nullptr, connection, bytes, size,
                                                             timeout_ms);
            },
            .receive = [](void* self, void* connection, void* buffer, size_t size,
                          int timeout_ms) -> ptrdiff_t {
              static_cast<Limited*>(self)->Note(timeout_ms);
              // In single bytes: a record takes many transfers.
              return static_cast<Limited*>(self)->under.receive(
                  nullptr, connection, buffer, std::min<size_t>(size, 1), timeout_ms);
            },
            .close =
                [](void* self, void* connection) {
                  static_cast<Limited*>(self)->under.close(nullptr, connection);
                }};
  }
  void Note(int timeout_ms) {
    ++transfers;
    longest_ms = std::max(longest_ms.load(), timeout_ms);
  }
};

TEST_F(GalleyVfsTlsTest, AllTransfersOfACallShareItsTime) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const TlsServer server(EchoBy(own));
  Limited limited;
  const galley_vfs_net under = limited.Net();
  const std::string ca = FileWith("ca.pem", own.certificate);
  ASSERT_EQ(Create({.ca_file = ca.c_str(), .net = &under}), GALLEY_VFS_OK) << text_;
  ASSERT_EQ(Connect(server), "");
  EXPECT_GT(limited.transfers, 100);
  EXPECT_THAT(limited.longest_ms, Le(kLongMs));
  limited.longest_ms = 0;
  std::string bytes;
  EXPECT_EQ(Receive(bytes, kShortMs), -1);
  EXPECT_THAT(limited.longest_ms, Le(kShortMs));
  EXPECT_EQ(Echo("in pieces"), "in pieces");
  limited.longest_ms = 0;
  Close();
  EXPECT_EQ(limited.longest_ms, 0) << "an end is not waited for";
}

TEST_F(GalleyVfsTlsTest, SeveralThreadsConnectByOneAdapter) {
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  std::vector<std::unique_ptr<TlsServer>> servers;
  for (int i = 0; i < 4; ++i) servers.push_back(std::make_unique<TlsServer>(EchoBy(own)));
  ASSERT_EQ(Trusting(own.certificate), GALLEY_VFS_OK) << text_;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (const auto& server : servers) {
    threads.emplace_back([&, port = server->port()] {
      for (int i = 0; i < 5; ++i) {
        std::array<char, 256> text{};
        void* const connection =
            net_.connect(net_.context, "127.0.0.1", port, kLongMs, text.data(), text.size());
        if (connection == nullptr) continue;
        const bool is_sent = net_.send(net_.context, connection, "hello", 5, kLongMs) == 5;
        const ptrdiff_t got =
            net_.receive(net_.context, connection, text.data(), text.size(), kLongMs);
        if (is_sent && std::string_view(text.data(), 5) == "hello" && got == 5) ++right;
        net_.close(net_.context, connection);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST_F(GalleyVfsTlsTest, WrongOptionsAreNamed) {
  const auto refuse = [&](const galley_vfs_tls_options& options, const char* text) {
    EXPECT_EQ(Create(options), GALLEY_VFS_INVALID) << text;
    EXPECT_THAT(text_, HasSubstr(text));
    EXPECT_EQ(net_.connect, nullptr);
  };
  const SelfSigned own = wire::MakeSelfSigned(kLocal);
  const std::string ca = FileWith("ca.pem", own.certificate), key = FileWith("key.pem", own.key);
  const std::string other_key = FileWith("other.pem", wire::MakeSelfSigned(kLocal).key);
  const std::string none = folder_ / "none.pem";
  const std::string pin = WithoutColons(FingerprintOf(own.certificate));
  refuse({.ca_file = none.c_str()}, "none.pem: expected certificates in PEM: No such file");
  refuse({.ca_file = key.c_str()}, "key.pem: expected certificates in PEM");
  for (const std::string& wrong : {std::string(), std::string("12"), pin.substr(1) + ":", "0" + pin,
                                   pin.substr(1) + "g", ":" + pin, pin + ":"}) {
    refuse({.pinned_sha256 = wrong.c_str()}, "pinned_sha256: expected the SHA-256");
  }
  refuse({.ca_file = ca.c_str(), .pinned_sha256 = pin.c_str()}, "expected one of them");
  refuse({.certificate_file = ca.c_str()}, "expected both of them");
  refuse({.certificate_file = ca.c_str(), .key_file = other_key.c_str()},
         "other.pem: expected the certificate's key");
  const galley_vfs_net empty{.struct_size = sizeof empty};
  refuse({.net = &empty}, "net: expected four functions");
  EXPECT_EQ(galley_vfs_tls_create(nullptr, &net_, nullptr, 0), GALLEY_VFS_INVALID);
  const galley_vfs_tls_options good{.struct_size = sizeof good};
  EXPECT_EQ(galley_vfs_tls_create(&good, nullptr, nullptr, 0), GALLEY_VFS_INVALID);
  const galley_vfs_tls_options bad{.struct_size = sizeof bad, .key_file = "key"};
  EXPECT_EQ(galley_vfs_tls_create(&bad, &net_, nullptr, 0), GALLEY_VFS_INVALID) << "without a text";
  galley_vfs_tls_destroy(nullptr);
}

}  // namespace
}  // namespace galley::vfs_tls
