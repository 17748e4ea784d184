#include "common/base/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>

#include "common/base/errors.h"
#include "common/base/openssl_pointers.h"
#include "common/base/status_macros.h"

namespace galley {
namespace {

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
  const BioPointer reader = PemReaderOf(pem.text);
  ERR_clear_error();
  const X509Pointer first = NextCertificate(reader.get());
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
  const X509Pointer certificate = NextCertificate(PemReaderOf(certificates.text).get());
  const KeyPointer read(
      PEM_read_bio_PrivateKey(PemReaderOf(key.text).get(), nullptr, &RefusePassword, nullptr));
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
