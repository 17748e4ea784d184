#include "director/serve/http/tls_server.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "common/base/openssl_pointers.h"

namespace galley::director {
namespace {

constexpr size_t kRecordBytesMax = 16 * 1024;         // the most of one TLS record (RFC 8446, 5.1)
constexpr std::string_view kHttp11 = "\x08http/1.1";  // as ALPN has it (RFC 7301, 3.1)

using Context = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, FreedBy<SSL_free>>;

class TlsTransport final : public Transport {
 public:
  TlsTransport(Session session, int socket) : session_(std::move(session)), socket_(socket) {}

  IoResult Shake() override {
    ERR_clear_error();
    return ResultOf(SSL_accept(session_.get()), 0);
  }
  IoResult Read(std::span<char> into) override {
    size_t moved = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &moved);
    return ResultOf(result, moved);
  }
  bool MayHoldBytes() const override { return SSL_pending(session_.get()) > 0; }
  IoResult Write(std::span<const std::string_view> pieces, bool more_follows) override;
  bool can_send_file() const override { return false; }
  IoResult SendFile(int, uint64_t, size_t) override { return {.state = IoState::kEnded}; }
  void Finish() override {
    ERR_clear_error();
    SSL_shutdown(session_.get());  // only says it; the client's answer is not waited for
    ::shutdown(socket_, SHUT_WR);
  }

 private:
  IoResult ResultOf(int result, size_t moved) const;

  const Session session_;
  const int socket_;
};

IoResult TlsTransport::ResultOf(int result, size_t moved) const {
  if (result > 0) return {.state = IoState::kDone, .bytes = moved};
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.state = IoState::kWantsRead};
    case SSL_ERROR_WANT_WRITE:
      return {.state = IoState::kWantsWrite};
    default:
      return {.state = IoState::kEnded};
  }
}

// Small pieces at the front become one record. The choice depends on nothing but the pieces, so
// that a repeated call has the same bytes, as OpenSSL wants it.
IoResult TlsTransport::Write(std::span<const std::string_view> pieces, bool) {
  std::array<char, kRecordBytesMax> joined;
  std::string_view bytes;
  size_t used = 0;
  for (const std::string_view piece : pieces) {
    if (used == 0 && piece.size() >= kRecordBytesMax) {
      bytes = piece;
      break;
    }
    const size_t taken = std::min(piece.size(), kRecordBytesMax - used);
    if (taken > 0) std::memcpy(joined.data() + used, piece.data(), taken);
    used += taken;
    bytes = {joined.data(), used};
    if (used == kRecordBytesMax) break;
  }
  if (bytes.empty()) return {};
  size_t moved = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &moved);
  return ResultOf(result, moved);
}

class TlsServerImpl final : public TlsServer {
 public:
  explicit TlsServerImpl(Context context) : context_(std::move(context)) {}
  std::unique_ptr<Transport> Accept(int socket) override {
    Session session(SSL_new(context_.get()));
    if (session == nullptr || SSL_set_fd(session.get(), socket) != 1) return nullptr;
    return std::make_unique<TlsTransport>(std::move(session), socket);
  }

 private:
  const Context context_;  // sessions share it
};

int ChooseHttp11(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                 const unsigned char* offered, unsigned int offered_bytes, void*) {
  unsigned char* found = nullptr;
  const auto* const own = reinterpret_cast<const unsigned char*>(kHttp11.data());
  if (SSL_select_next_proto(&found, chosen_bytes, own, static_cast<unsigned int>(kHttp11.size()),
                            offered, offered_bytes) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// False: OpenSSL does not take it.
bool UseCertificate(SSL_CTX* context, std::string_view pem) {
  const BioPointer reader = PemReaderOf(pem);
  const X509Pointer own = NextCertificate(reader.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (X509Pointer issuer = NextCertificate(reader.get())) {
    if (SSL_CTX_add0_chain_cert(context, issuer.get()) != 1) return false;
    static_cast<void>(issuer.release());  // the context has it
  }
  return true;
}

bool UseKey(SSL_CTX* context, std::string_view pem) {
  const BioPointer reader = PemReaderOf(pem);
  const KeyPointer key(PEM_read_bio_PrivateKey(reader.get(), nullptr, &RefusePassword, nullptr));
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
         SSL_CTX_check_private_key(context) == 1;
}

bool WantClients(SSL_CTX* context, std::string_view authorities) {
  if (authorities.empty()) return true;
  const BioPointer reader = PemReaderOf(authorities);
  while (const X509Pointer authority = NextCertificate(reader.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return false;
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsServer>> TlsServer::Make(const wire::TlsTexts& texts) {
  Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::ResourceExhaustedError("TLS: no memory is left");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Sessions of clients are kept by the clients alone, and idle connections give their buffers
  // back.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  constexpr std::string_view kId = "galley-http";
  SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>(kId.data()),
                                 static_cast<unsigned int>(kId.size()));
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseHttp11, nullptr);
  const bool is_taken = UseCertificate(context.get(), texts.certificate) &&
                        UseKey(context.get(), texts.key) && WantClients(context.get(), texts.ca);
  ERR_clear_error();
  if (!is_taken) return absl::InvalidArgumentError("TLS: OpenSSL does not take the certificates");
  return std::shared_ptr<TlsServer>(std::make_shared<TlsServerImpl>(std::move(context)));
}

}  // namespace galley::director
