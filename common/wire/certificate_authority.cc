#include "common/wire/certificate_authority.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::wire {
namespace {

constexpr size_t kRequestBytesMax = 64 << 10;
constexpr absl::Duration kClocksDiffer = absl::Hours(1);          // those of machines of a farm
constexpr absl::Duration kOwnLifetime = absl::Hours(24 * 3'650);  // longer than any director runs
constexpr int kSerialBytes = 16;
constexpr const char* kAuthorityName = "galley director, for the workers of its launches";

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using Pem = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

absl::Status Failed(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return InternalError("OpenSSL cannot {}: {}", what, text.data());
}

// `write`: a function of OpenSSL that writes `object`. Empty: it failed.
template <typename Write>
std::string PemOf(const Write& write) {
  const Pem pem(BIO_new(BIO_s_mem()));
  if (pem == nullptr || write(pem.get()) != 1) return "";
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(pem.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

Key NewKey() { return Key(EVP_EC_gen("P-256")); }

bool SetSerial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes{};
  if (RAND_bytes(bytes.data(), kSerialBytes) != 1) return false;
  bytes[0] &= 0x7f;  // it is positive
  BIGNUM* number = BN_bin2bn(bytes.data(), kSerialBytes, nullptr);
  const bool is_set = number != nullptr &&
                      BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return is_set;
}

bool SetTimes(X509* certificate, absl::Time begin, absl::Time end) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(begin)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(end)) != nullptr;
}

bool SetName(X509_NAME* of, const std::string& name) {
  return X509_NAME_add_entry_by_txt(of, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

bool AddExtension(X509* certificate, int of, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, of, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

class Authority final : public CertificateAuthority {
 public:
  Authority(Key key, Certificate certificate, std::string pem)
      : key_(std::move(key)), certificate_(std::move(certificate)), pem_(std::move(pem)) {}

  const std::string& certificate() const override { return pem_; }

  absl::StatusOr<std::string> Issue(const std::string& text, const std::string& name,
                                    absl::Time now, absl::Duration lifetime) const override {
    if (text.size() > kRequestBytesMax)
      return absl::InvalidArgumentError("the request for a certificate is too long");
    const Pem reader(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    const Request request(PEM_read_bio_X509_REQ(reader.get(), nullptr, nullptr, nullptr));
    EVP_PKEY* const key = request == nullptr ? nullptr : X509_REQ_get0_pubkey(request.get());
    if (key == nullptr || X509_REQ_verify(request.get(), key) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError(
          "expected a request for a certificate (PEM), signed with its key");
    }
    const Certificate made(X509_new());
    const bool is_made =
        made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1 &&
        SetSerial(made.get()) && SetTimes(made.get(), now - kClocksDiffer, now + lifetime) &&
        SetName(X509_get_subject_name(made.get()), name) &&
        X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get())) == 1 &&
        X509_set_pubkey(made.get(), key) == 1 &&
        AddExtension(made.get(), NID_basic_constraints, "critical,CA:FALSE") &&
        AddExtension(made.get(), NID_ext_key_usage, "clientAuth") &&
        X509_sign(made.get(), key_.get(), EVP_sha256()) > 0;
    if (!is_made) return Failed("make a certificate");
    return PemOf([&](BIO* pem) { return PEM_write_bio_X509(pem, made.get()); });
  }

 private:
  const Key key_;
  const Certificate certificate_;
  const std::string pem_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateAuthority>> NewCertificateAuthority(absl::Time now) {
  Key key = NewKey();
  Certificate made(X509_new());
  const bool is_made =
      key != nullptr && made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1 &&
      SetSerial(made.get()) && SetTimes(made.get(), now - kClocksDiffer, now + kOwnLifetime) &&
      SetName(X509_get_subject_name(made.get()), kAuthorityName) &&
      X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1 &&
      X509_set_pubkey(made.get(), key.get()) == 1 &&
      AddExtension(made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      AddExtension(made.get(), NID_key_usage, "critical,keyCertSign") &&
      X509_sign(made.get(), key.get(), EVP_sha256()) > 0;
  if (!is_made) return Failed("make an authority");
  std::string pem = PemOf([&](BIO* to) { return PEM_write_bio_X509(to, made.get()); });
  return std::make_unique<Authority>(std::move(key), std::move(made), std::move(pem));
}

bool IsOfALaunch(const std::string& certificate) {
  const Pem reader(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
  const Certificate read(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (read == nullptr) return false;
  std::array<char, 128> name{};
  X509_NAME_get_text_by_NID(X509_get_issuer_name(read.get()), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return std::string_view(name.data()) == kAuthorityName;
}

absl::StatusOr<KeyAndRequest> NewKeyAndRequest() {
  const Key key = NewKey();
  const Request request(X509_REQ_new());
  const bool is_made = key != nullptr && request != nullptr &&
                       X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                       X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                       X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0;
  if (!is_made) return Failed("make a key");
  return KeyAndRequest{
      .key = PemOf([&](BIO* to) {
        return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      }),
      .request = PemOf([&](BIO* to) { return PEM_write_bio_X509_REQ(to, request.get()); })};
}

}  // namespace galley::wire
