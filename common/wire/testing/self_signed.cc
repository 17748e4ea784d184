#include "common/wire/testing/self_signed.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace galley::wire {
namespace {

template <typename Write>
std::string PemOf(const Write& write) {
  BIO* const out = BIO_new(BIO_s_mem());
  write(out);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(out, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(out);
  return text;
}

}  // namespace

SelfSigned MakeSelfSigned(const std::string& names, int days) {
  constexpr long kDay = 24 * 3'600;  // NOLINT(google-runtime-int): OpenSSL's
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = X509_new();
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 7);
  X509_gmtime_adj(X509_getm_notBefore(made), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(made), (days - 1) * kDay);
  X509_set_pubkey(made, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("studio"), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(made));
  X509_EXTENSION* const alt =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(made, alt, -1);
  X509_EXTENSION_free(alt);
  X509_sign(made, key, EVP_sha256());
  SelfSigned both{PemOf([&](BIO* out) { PEM_write_bio_X509(out, made); }), PemOf([&](BIO* out) {
                    PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
                  })};
  X509_free(made);
  EVP_PKEY_free(key);
  return both;
}

}  // namespace galley::wire
