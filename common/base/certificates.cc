#include "common/base/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley {
namespace {

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using Pem = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

Pem PemOf(std::string_view text) {
  return Pem(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
// OpenSSL's own function asks for a password at a terminal and would wait for ever.
int NoPassword(char*, int, int, void*) { return 0; }

Certificate NextCertificate(BIO* pem) {
  return Certificate(PEM_read_bio_X509(pem, nullptr, &NoPassword, nullptr));
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? absl::FromTM(parts, absl::UTCTimeZone())
                                            : absl::InfiniteFuture();
}

absl::Status NoCertificate(std::string_view file) {
  return InvalidArgumentError("{}: expected a certificate (PEM)", file);
}

}  // namespace

absl::StatusOr<absl::Time> CheckCertificates(const PemText& pem) {
  const Pem reader = PemOf(pem.text);
  ERR_clear_error();
  const Certificate first = NextCertificate(reader.get());
  if (first == nullptr) {
    ERR_clear_error();
    return NoCertificate(pem.file);
  }
  while (NextCertificate(reader.get()) != nullptr) {
  }
  const auto error = ERR_peek_last_error();
  const bool is_end =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!is_end) {
    return InvalidArgumentError("{}: expected certificates (PEM): one behind the first is damaged",
                                pem.file);
  }
  return TimeOf(X509_get0_notAfter(first.get()));
}

absl::Status CheckKeyPair(const PemText& certificates, const PemText& key) {
  RETURN_IF_ERROR(CheckCertificates(certificates).status());
  const Certificate certificate = NextCertificate(PemOf(certificates.text).get());
  const Key read(PEM_read_bio_PrivateKey(PemOf(key.text).get(), nullptr, &NoPassword, nullptr));
  const bool is_pair = read != nullptr && certificate != nullptr &&
                       X509_check_private_key(certificate.get(), read.get()) == 1;
  ERR_clear_error();
  if (read == nullptr) {
    return InvalidArgumentError("{}: expected a private key (PEM, without a password)", key.file);
  }
  if (!is_pair) {
    return InvalidArgumentError("{}: expected the private key of the certificate in {}", key.file,
                                certificates.file);
  }
  return absl::OkStatus();
}

}  // namespace galley
