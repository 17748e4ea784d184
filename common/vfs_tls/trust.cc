#include "common/vfs_tls/trust.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <system_error>

namespace galley::vfs_tls {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string HexOf(const CertificateHash& hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// OpenSSL's own function asks at a terminal, and would wait for ever.
int HasNoPassword(char*, int, int, void*) { return 0; }

// A name that the certificate is for; "" where it has none.
std::string NameOf(X509* certificate) {
  using NamesPointer = std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>>;
  const NamesPointer names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
            static_cast<size_t>(ASN1_STRING_length(name->d.dNSName))};
  }
  return "";
}

std::string WhyRefused(X509_STORE_CTX* chain) {
  const int error = X509_STORE_CTX_get_error(chain);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::string name = NameOf(X509_STORE_CTX_get0_cert(chain));
      return "the certificate is not for the host of the URL" +
             (name.empty() ? "" : ", but for " + name) +
             ": ask by a name that it has, or pin the certificate";
    }
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate has expired: give the server a new one (is this machine's clock "
             "right?)";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate is not valid yet: is this machine's clock right?";
    default:
      return std::string("the certificate is not of an authority that is trusted here (") +
             X509_verify_cert_error_string(error) + "): give its authority's file, or pin it";
  }
}

}  // namespace

std::optional<CertificateHash> ParsePin(const std::string& text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_colon = text[i] == ':' && digits.size() % 2 == 0 && !digits.empty();
    if (is_colon && i + 1 < text.size() && text[i - 1] != ':') continue;
    if (HexDigit(text[i]) < 0) return std::nullopt;
    digits += text[i];
  }
  CertificateHash hash{};
  if (digits.size() != 2 * hash.size()) return std::nullopt;
  for (size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<uint8_t>(HexDigit(digits[2 * i]) << 4 | HexDigit(digits[2 * i + 1]));
  return hash;
}

std::string TakeReason() {
  const unsigned long code = ERR_peek_error();  // NOLINT(google-runtime-int): OpenSSL's
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? "" : reason;
}

std::string Trust::Begin(const galley_vfs_tls_options& options) {
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr) return "OpenSSL cannot make a context: " + TakeReason();
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A call that has sent a part says so; one that is repeated may have its bytes elsewhere.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);  // one transfer for a record, or for several
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &Trust::Judge, this);
  SSL_CTX_set_default_passwd_cb(context, &HasNoPassword);
  if (options.pinned_sha256 != nullptr) {
    pin_ = ParsePin(options.pinned_sha256);
    if (!pin_)
      return "pinned_sha256: expected the SHA-256 of the server's certificate, 64 hex digits";
    if (options.ca_file != nullptr)
      return "ca_file and pinned_sha256: expected one of them, as a pin needs no authority";
  } else if (std::string wrong = TakeAuthorities(options.ca_file); !wrong.empty()) {
    return wrong;
  }
  return TakeOwnCertificate(options.certificate_file, options.key_file);
}

std::string Trust::TakeAuthorities(const char* ca_file) {
  // A certificate in the file is trusted, also one that an authority outside the file has signed.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context()),
                       X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  if (ca_file == nullptr) {
    SSL_CTX_set_default_verify_paths(context());
    ERR_clear_error();
    return {};
  }
  if (SSL_CTX_load_verify_locations(context(), ca_file, nullptr) == 1) return {};
  return std::string(ca_file) + ": expected certificates in PEM: " + TakeReason();
}

std::string Trust::TakeOwnCertificate(const char* certificate_file, const char* key_file) {
  if (certificate_file == nullptr && key_file == nullptr) return {};
  if (certificate_file == nullptr || key_file == nullptr)
    return "certificate_file and key_file: expected both of them, or none";
  if (SSL_CTX_use_certificate_chain_file(context(), certificate_file) != 1)
    return std::string(certificate_file) + ": expected a certificate in PEM: " + TakeReason();
  if (SSL_CTX_use_PrivateKey_file(context(), key_file, SSL_FILETYPE_PEM) != 1) {
    return std::string(key_file) +
           ": expected the certificate's key in PEM, without a password: " + TakeReason();
  }
  return {};
}

ConnectionPointer Trust::MakeConnection(const std::string& host, std::string& refusal) const {
  ConnectionPointer made(SSL_new(context()));
  if (made == nullptr) return nullptr;
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(made.get());
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  ERR_clear_error();
  if (!is_address) {
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const bool has_name = X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
                          SSL_set_tlsext_host_name(made.get(), host.c_str()) == 1;
    if (!has_name) return nullptr;
  }
  SSL_set_app_data(made.get(), &refusal);
  SSL_set_connect_state(made.get());
  return made;
}

// Called by OpenSSL in the handshake; 1: the server is believed.
int Trust::Judge(X509_STORE_CTX* chain, void* self) noexcept try {
  auto* const connection =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& refusal = *static_cast<std::string*>(SSL_get_app_data(connection));
  const auto& trust = *static_cast<const Trust*>(self);
  if (trust.pin_) {
    const bool is_pinned = trust.IsPinned(X509_STORE_CTX_get0_cert(chain), refusal);
    X509_STORE_CTX_set_error(chain, is_pinned ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return is_pinned ? 1 : 0;
  }
  if (X509_verify_cert(chain) == 1) return 1;
  refusal = WhyRefused(chain);
  return 0;
} catch (...) {
  return 0;  // there was no memory for a text
}

bool Trust::IsPinned(X509* certificate, std::string& why_not) const {
  CertificateHash hash{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), hash.data(), &size) != 1 || size != hash.size()) {
    why_not = "OpenSSL cannot compute SHA-256";
    return false;
  }
  if (hash == *pin_) return true;
  why_not =
      "the certificate is not the pinned one: expected " + HexOf(*pin_) + ", got " + HexOf(hash);
  return false;
}

}  // namespace galley::vfs_tls
