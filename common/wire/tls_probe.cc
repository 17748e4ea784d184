#include "common/wire/tls_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace galley::wire {
namespace {

// A server that takes the client speaks first, as HTTP/2 has it; one that does not says why.
constexpr absl::Duration kFirstWordMax = absl::Milliseconds(500);
constexpr size_t kNamesShownMax = 8;

template <auto free>
struct Released {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using PemReader = std::unique_ptr<BIO, Released<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, Released<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Released<EVP_PKEY_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, Released<SSL_CTX_free>>;
using ConnectionPtr = std::unique_ptr<SSL, Released<SSL_free>>;

struct HostPort {
  std::string host, port;
};

HostPort Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  HostPort split{.host = address.substr(0, colon),
                 .port = colon == std::string::npos ? "" : address.substr(colon + 1)};
  if (split.host.starts_with('[') && split.host.ends_with(']'))
    split.host = split.host.substr(1, split.host.size() - 2);
  return split;
}

bool IsIp(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

PemReader Reader(const std::string& text) {
  return PemReader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool IsFor(X509* certificate, const std::string& host) {
  return IsIp(host) ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1
                    : X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

std::string TextOf(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(name.d.dNSName)),
            static_cast<size_t>(ASN1_STRING_length(name.d.dNSName))};
  }
  if (name.type != GEN_IPADD) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(name.d.iPAddress);
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name.d.iPAddress), text.data(),
              text.size());
  return text.data();
}

// "a.example, 10.0.0.7"; "no name" when it has none.
std::string NamesOf(X509* certificate) {
  std::string text;
  size_t count = 0;
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const std::string name = TextOf(*sk_GENERAL_NAME_value(names, i));
    if (name.empty() || ++count > kNamesShownMax) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  GENERAL_NAMES_free(names);
  if (count > kNamesShownMax) text += ", ...";
  return text.empty() ? "no name" : text;
}

absl::Status WrongName(X509* certificate, const std::string& host) {
  return FailedPreconditionError(
      "the director's certificate is for {}, and not for {}: [farm] advertise has to be a name "
      "that the certificate has, or the certificate one for that name",
      NamesOf(certificate), host);
}

absl::Status JudgeChain(long verified) {  // NOLINT(google-runtime-int): OpenSSL's
  switch (verified) {
    case X509_V_OK:
      return absl::OkStatus();
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::FailedPreconditionError(
          "the director's certificate has expired: put a new one in place ([farm] tls_cert)");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::FailedPreconditionError(
          "the director's certificate is not valid yet: is the clock of this machine right?");
    default:
      return FailedPreconditionError(
          "the director's certificate is not of an authority that this worker was given ([farm] "
          "tls_ca): {}",
          X509_verify_cert_error_string(verified));
  }
}

// The reason on OpenSSL's queue, without the place in its code.
std::string ReasonText() {
  const unsigned long code = ERR_peek_error();  // NOLINT(google-runtime-int): OpenSSL's
  const char* reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "" : reason;
}

absl::StatusOr<FileDescriptor> ConnectTo(const addrinfo& one, absl::Duration wait_max) {
  FileDescriptor socket(
      ::socket(one.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, one.ai_protocol));
  if (!socket.valid()) return absl::UnavailableError(std::strerror(errno));
  if (::connect(socket.get(), one.ai_addr, one.ai_addrlen) != 0 && errno != EINPROGRESS)
    return absl::UnavailableError(std::strerror(errno));
  pollfd event{socket.get(), POLLOUT, 0};
  if (::poll(&event, 1, static_cast<int>(absl::ToInt64Milliseconds(wait_max))) <= 0)
    return absl::UnavailableError("no answer");
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return absl::UnavailableError(std::strerror(error));
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  return socket;
}

absl::StatusOr<FileDescriptor> Connect(const HostPort& to, absl::Duration wait_max) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found); error != 0)
    return UnavailableError("cannot find the address of {}: {}", to.host, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  absl::StatusOr<FileDescriptor> socket = absl::UnavailableError("no address");
  for (const addrinfo* one = found; one != nullptr && !socket.ok(); one = one->ai_next)
    socket = ConnectTo(*one, wait_max);
  if (socket.ok()) return socket;
  return UnavailableError("cannot connect to {} at port {}: {}", to.host, to.port,
                          MessageOf(socket.status()));
}

void SetWait(const FileDescriptor& socket, absl::Duration wait) {
  const timeval limit = absl::ToTimeval(wait);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

absl::StatusOr<ContextPtr> ContextFor(const ClientTls& tls) {
  ContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return absl::UnavailableError("OpenSSL cannot make a context");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);  // the result is looked at later
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context.get()),
                       X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);  // as gRPC does
  const PemReader authorities = Reader(tls.ca);
  while (const CertificatePtr one{PEM_read_bio_X509(authorities.get(), nullptr, nullptr, nullptr)})
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), one.get());
  ERR_clear_error();
  if (tls.certificate.empty()) return context;
  const CertificatePtr own(
      PEM_read_bio_X509(Reader(tls.certificate).get(), nullptr, nullptr, nullptr));
  const KeyPtr key(PEM_read_bio_PrivateKey(Reader(tls.key).get(), nullptr, nullptr, nullptr));
  if (own == nullptr || key == nullptr || SSL_CTX_use_certificate(context.get(), own.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return FailedPreconditionError("this worker's certificate and key cannot be used: {}",
                                   ReasonText());
  }
  return context;
}

absl::Status NoHandshake(int result, const SSL* connection, const std::string& address) {
  const int error = SSL_get_error(connection, result);
  const std::string reason = ReasonText();
  if (error != SSL_ERROR_SSL || reason.empty() || reason == "unexpected eof while reading")
    return UnavailableError("{} ended the connection before it showed a certificate", address);
  return FailedPreconditionError(
      "no TLS with {}: {}. Does the director listen there, with [farm] tls_cert?", address, reason);
}

// A server that refuses the certificate of a client says so behind the handshake.
absl::Status AwaitFirstWord(SSL* connection, const FileDescriptor& socket) {
  SetWait(socket, kFirstWordMax);
  std::array<char, 1> first{};
  const int read = SSL_read(connection, first.data(), 1);
  if (read > 0 || SSL_get_error(connection, read) != SSL_ERROR_SSL) {
    ERR_clear_error();
    return absl::OkStatus();
  }
  const std::string reason = ReasonText();
  if (reason == "unexpected eof while reading") return absl::OkStatus();
  return FailedPreconditionError("the director does not take this worker's certificate: {}",
                                 reason);
}

// A handshake that was tried; the members go in the reverse order.
struct Handshake {
  FileDescriptor socket;
  ContextPtr context;
  ConnectionPtr connection;
  int result = 0;  // SSL_connect's; 1: done
};

absl::StatusOr<Handshake> ShakeHands(const HostPort& to, const ClientTls& tls,
                                     absl::Duration wait_max) {
  Handshake made;
  ASSIGN_OR_RETURN(made.socket, Connect(to, wait_max));
  SetWait(made.socket, wait_max);
  ASSIGN_OR_RETURN(made.context, ContextFor(tls));
  made.connection.reset(SSL_new(made.context.get()));
  if (made.connection == nullptr || SSL_set_fd(made.connection.get(), made.socket.get()) != 1)
    return absl::UnavailableError("OpenSSL cannot make a connection");
  constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
  SSL_set_alpn_protos(made.connection.get(), kHttp2.data(), static_cast<unsigned>(kHttp2.size()));
  if (!IsIp(to.host)) SSL_set_tlsext_host_name(made.connection.get(), to.host.c_str());
  ERR_clear_error();
  made.result = SSL_connect(made.connection.get());
  return made;
}

}  // namespace

absl::Status ProbeTls(const std::string& address, const ClientTls& tls, absl::Duration wait_max) {
  const HostPort to = Split(address);
  ASSIGN_OR_RETURN(const Handshake made, ShakeHands(to, tls, wait_max));
  SSL* const connection = made.connection.get();
  if (made.result != 1) return NoHandshake(made.result, connection, address);
  const CertificatePtr shown(SSL_get1_peer_certificate(connection));
  if (shown == nullptr) return absl::FailedPreconditionError("the director shows no certificate");
  RETURN_IF_ERROR(JudgeChain(SSL_get_verify_result(connection)));
  if (!IsFor(shown.get(), to.host)) return WrongName(shown.get(), to.host);
  return AwaitFirstWord(connection, made.socket);
}

bool SpeaksTls(const std::string& address, absl::Duration wait_max) {
  const absl::StatusOr<Handshake> made = ShakeHands(Split(address), {}, wait_max);
  ERR_clear_error();
  return made.ok() && made->result == 1;
}

absl::Status CheckServerName(const std::string& certificate, const std::string& address) {
  const CertificatePtr one(PEM_read_bio_X509(Reader(certificate).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (one == nullptr) return absl::FailedPreconditionError("there is no certificate");
  if (X509_cmp_current_time(X509_get0_notAfter(one.get())) < 0)
    return JudgeChain(X509_V_ERR_CERT_HAS_EXPIRED);
  if (X509_cmp_current_time(X509_get0_notBefore(one.get())) > 0)
    return JudgeChain(X509_V_ERR_CERT_NOT_YET_VALID);
  const std::string host = Split(address).host;
  return IsFor(one.get(), host) ? absl::OkStatus() : WrongName(one.get(), host);
}

}  // namespace galley::wire
