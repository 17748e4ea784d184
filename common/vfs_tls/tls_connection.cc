#include "common/vfs_tls/tls_connection.h"

#include <openssl/err.h>

#include <utility>

namespace galley::vfs_tls {

TlsConnection::~TlsConnection() {
  if (is_whole_) {
    underneath_.LimitTo(0);
    SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  tls_.reset();  // before what it uses
  ground_.net.close(ground_.net.context, underneath_.connection);
}

std::string TlsConnection::Begin(const std::string& host, Time until) {
  tls_ = ground_.trust.MakeConnection(host, refusal_);
  BioPointer bio = MakeNetBio(ground_.bio_method.get(), underneath_);
  if (tls_ == nullptr || bio == nullptr) return "OpenSSL cannot make a connection: " + TakeReason();
  BIO* const both_ways = bio.release();
  SSL_set_bio(tls_.get(), both_ways, both_ways);
  underneath_.until = until;
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  if (result != 1) return WhyNot(result);
  is_whole_ = true;
  return {};
}

// REQUIRES: the handshake was not done.
std::string TlsConnection::WhyNot(int result) const {
  const int error = SSL_get_error(tls_.get(), result);
  const std::string reason = TakeReason();
  if (!refusal_.empty()) return refusal_;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
    return "the TLS handshake was not done in time: expected a server that speaks TLS there";
  if (underneath_.has_ended || error != SSL_ERROR_SSL)
    return "the connection ended in the TLS handshake: expected a server that speaks TLS there";
  if (reason == "wrong version number" || reason == "http request" ||
      reason == "packet length too long")
    return "the server does not speak TLS: expected one, as the URL is https (or ask by http)";
  return "the TLS handshake failed: " + reason;
}

ptrdiff_t TlsConnection::Send(const void* bytes, size_t size, int timeout_ms) {
  if (!is_whole_) return -2;
  underneath_.LimitTo(timeout_ms);
  ERR_clear_error();
  size_t sent = 0;
  const int result = SSL_write_ex(tls_.get(), bytes, size, &sent);
  return result == 1 ? static_cast<ptrdiff_t>(sent) : OutcomeOf(result);
}

ptrdiff_t TlsConnection::Receive(void* buffer, size_t size, int timeout_ms) {
  if (!is_whole_) return -2;
  underneath_.LimitTo(timeout_ms);
  ERR_clear_error();
  size_t got = 0;
  const int result = SSL_read_ex(tls_.get(), buffer, size, &got);
  return result == 1 ? static_cast<ptrdiff_t>(got) : OutcomeOf(result);
}

// REQUIRES: no byte was moved. An end without the peer's word may be the work of a third, and is
// no end of what was sent.
ptrdiff_t TlsConnection::OutcomeOf(int result) {
  const int error = SSL_get_error(tls_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return -1;
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  is_whole_ = false;
  return -2;
}

}  // namespace galley::vfs_tls
