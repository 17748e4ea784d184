#include "common/wire/tls_probe.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "common/listen/listening_socket.h"
#include "common/wire/testing/self_signed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::wire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Takes a single connection and serves it by `serve`.
class OneServer {
 public:
  explicit OneServer(const std::function<void(int socket)>& serve) {
    ::signal(SIGPIPE, SIG_IGN);
    listening_ = *listen::ListenOnTcp("127.0.0.1:0");
    thread_ = std::thread([this, serve] {
      // The listening socket does not block.
      pollfd client{listening_.sockets.front().get(), POLLIN, 0};
      ::poll(&client, 1, 10'000);
      const int socket = ::accept(listening_.sockets.front().get(), nullptr, nullptr);
      serve(socket);
      ::close(socket);
    });
  }
  ~OneServer() { thread_.join(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(listening_.port); }

 private:
  listen::TcpSockets listening_;
  std::thread thread_;
};

// `needs`: a client must show a certificate.
std::function<void(int)> Speaks(const SelfSigned& own, bool needs = false) {
  return [own, needs](int socket) {
    SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
    BIO* const certificate = BIO_new_mem_buf(own.certificate.data(), -1);
    BIO* const key = BIO_new_mem_buf(own.key.data(), -1);
    X509* const read = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* const read_key = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, read);
    SSL_CTX_use_PrivateKey(context, read_key);
    if (needs)
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL* const connection = SSL_new(context);
    SSL_set_fd(connection, socket);
    if (SSL_accept(connection) == 1) SSL_write(connection, "settings", 8);
    SSL_free(connection);
    X509_free(read);
    EVP_PKEY_free(read_key);
    BIO_free(certificate);
    BIO_free(key);
    SSL_CTX_free(context);
  };
}

absl::Status Probe(const std::function<void(int)>& serve, const ClientTls& tls) {
  const OneServer server(serve);
  return ProbeTls(server.address(), tls, absl::Seconds(5));
}

TEST(TlsProbeTest, ACertificateForTheNameOfAnAuthorityThatIsTrustedWillDo) {
  const SelfSigned own = MakeSelfSigned("IP:127.0.0.1");
  EXPECT_TRUE(Probe(Speaks(own), {.ca = own.certificate}).ok());
}

TEST(TlsProbeTest, AnotherNameIsNamedWithThoseThatTheCertificateHas) {
  const SelfSigned own = MakeSelfSigned("DNS:cook.studio,IP:10.0.0.7");
  const absl::Status status = Probe(Speaks(own), {.ca = own.certificate});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.ToString(), AllOf(HasSubstr("is for cook.studio, 10.0.0.7, and not for "
                                                 "127.0.0.1"),
                                       HasSubstr("[farm] advertise")));
}

TEST(TlsProbeTest, AnotherAuthorityAndACertificateThatIsOverWillNotDo) {
  const SelfSigned own = MakeSelfSigned("IP:127.0.0.1"), other = MakeSelfSigned("IP:127.0.0.1"),
                   over = MakeSelfSigned("IP:127.0.0.1", 0);
  const absl::Status foreign = Probe(Speaks(own), {.ca = other.certificate});
  EXPECT_TRUE(absl::IsFailedPrecondition(foreign)) << foreign;
  EXPECT_THAT(foreign.ToString(), HasSubstr("not of an authority that this worker was given"));
  const absl::Status expired = Probe(Speaks(over), {.ca = over.certificate});
  EXPECT_TRUE(absl::IsFailedPrecondition(expired)) << expired;
  EXPECT_THAT(expired.ToString(), HasSubstr("has expired"));
}

TEST(TlsProbeTest, AServerThatDoesNotTakeTheClientIsToldApart) {
  const SelfSigned own = MakeSelfSigned("IP:127.0.0.1");
  const absl::Status status = Probe(Speaks(own, /*needs=*/true), {.ca = own.certificate});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("does not take this worker's certificate"));
}

TEST(TlsProbeTest, WhoSpeaksNoTlsWillNotDo) {
  const absl::Status status = Probe(
      [](int socket) {
        char bytes[4096];
        [[maybe_unused]] ssize_t done = ::read(socket, bytes, sizeof(bytes));
        done = ::write(socket, "HTTP/1.1 400 no\r\n\r\n", 19);
      },
      {.ca = MakeSelfSigned("IP:127.0.0.1").certificate});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("no TLS with 127.0.0.1:"));
}

TEST(TlsProbeTest, WhoWasGivenNoTlsCanAskWhetherItIsSpoken) {
  const SelfSigned own = MakeSelfSigned("IP:127.0.0.1");
  {
    const OneServer server(Speaks(own, /*needs=*/true));
    EXPECT_TRUE(SpeaksTls(server.address(), absl::Seconds(5)));
  }
  const OneServer plain([](int) {});
  EXPECT_FALSE(SpeaksTls(plain.address(), absl::Seconds(5)));
}

TEST(TlsProbeTest, WhereNobodyAnswersSomebodyMayLater) {
  EXPECT_TRUE(absl::IsUnavailable(ProbeTls("127.0.0.1:1", {.ca = "x"}, absl::Seconds(1))));
  EXPECT_TRUE(
      absl::IsUnavailable(Probe([](int) {}, {.ca = MakeSelfSigned("IP:127.0.0.1").certificate})));
}

TEST(TlsProbeTest, ACertificateIsHeldAgainstTheAddressThatWorkersAreTold) {
  const SelfSigned own = MakeSelfSigned("DNS:cook.studio,IP:::1");
  EXPECT_TRUE(CheckServerName(own.certificate, "cook.studio:9010").ok());
  EXPECT_TRUE(CheckServerName(own.certificate, "[::1]:9010").ok());
  EXPECT_FALSE(CheckServerName(own.certificate, "cook.stud:9010").ok());
  EXPECT_FALSE(CheckServerName(MakeSelfSigned("DNS:a", 0).certificate, "a:1").ok());
  EXPECT_FALSE(CheckServerName("", "a:1").ok());
}

}  // namespace
}  // namespace galley::wire
