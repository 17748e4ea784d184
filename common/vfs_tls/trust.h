// Trust: which servers are believed, and with which certificate this client shows itself: an
// SSL_CTX, made from the options.
//
// Threads: any, once it is made.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/vfs_tls/galley_vfs_tls.h"
#include "common/vfs_tls/net_bio.h"

namespace galley::vfs_tls {

using ContextPointer = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using ConnectionPointer = std::unique_ptr<SSL, FreedBy<SSL_free>>;
using CertificateHash = std::array<uint8_t, 32>;

// nullopt: it is not 64 hex digits, in any case, with or without colons between pairs.
std::optional<CertificateHash> ParsePin(const std::string& text);

// Takes the reason from OpenSSL's queue of errors; "" where it has none.
std::string TakeReason();

class Trust {
 public:
  Trust() = default;
  Trust(const Trust&) = delete;
  Trust& operator=(const Trust&) = delete;

  // Returns what is wrong with the options; empty: nothing. Called once, before all else.
  std::string Begin(const galley_vfs_tls_options& options);
  // Makes a connection's side of TLS, for this host. Why a certificate is refused is written to
  // `refusal`, which outlives it. nullptr: there is no memory.
  ConnectionPointer MakeConnection(const std::string& host, std::string& refusal) const;

 private:
  SSL_CTX* context() const { return context_.get(); }
  static int Judge(X509_STORE_CTX* chain, void* self) noexcept;
  bool IsPinned(X509* certificate, std::string& why_not) const;
  std::string TakeAuthorities(const char* ca_file);
  std::string TakeOwnCertificate(const char* certificate_file, const char* key_file);

  ContextPointer context_;
  std::optional<CertificateHash> pin_;
};

}  // namespace galley::vfs_tls
