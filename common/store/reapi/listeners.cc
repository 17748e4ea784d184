#include "common/store/reapi/listeners.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr uint64_t kKeyFileBytesMax = 1 << 20;

// The host of "host:port" or "[host]:port"; nullopt: it is neither.
std::optional<std::string_view> HostOf(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view port = address.substr(colon + 1);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  if (host.empty() || host.find(':') != std::string_view::npos) return std::nullopt;
  return host;
}

// Four numbers, the first of which is 127: names that only begin like it are somebody's.
bool IsLoopbackV4(std::string_view host) {
  size_t numbers = 0;
  bool is_127 = false;
  while (true) {
    uint8_t number = 0;
    const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), number);
    if (error != std::errc()) return false;
    if (numbers == 0) is_127 = number == 127;
    ++numbers;
    host.remove_prefix(static_cast<size_t>(end - host.data()));
    if (host.empty()) return numbers == 4 && is_127;
    if (host.front() != '.') return false;
    host.remove_prefix(1);
  }
}

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using Pem = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

Pem PemOf(const std::string& text) {
  return Pem(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
// A server that asks for one at its terminal does not start.
int NoPassword(char*, int, int, void*) { return 0; }

// The first one in the file.
absl::StatusOr<Certificate> ReadCertificate(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kKeyFileBytesMax));
  const Pem pem = PemOf(text);
  Certificate certificate(PEM_read_bio_X509(pem.get(), nullptr, &NoPassword, nullptr));
  ERR_clear_error();
  if (certificate == nullptr)
    return absl::InvalidArgumentError(fmt::format("{}: expected a certificate (PEM)", file));
  return certificate;
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    return absl::InvalidArgumentError(
        "TLS: expected a certificate and its key (--tls-cert, --tls-key)");
  }
  ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate(files.certificate));
  ASSIGN_OR_RETURN(const std::string key_text, ReadFile(files.key, kKeyFileBytesMax));
  const Pem key_pem = PemOf(key_text);
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(
      PEM_read_bio_PrivateKey(key_pem.get(), nullptr, &NoPassword, nullptr));
  ERR_clear_error();
  if (key == nullptr || X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected the private key of the certificate in {}", files.key, files.certificate));
  }
  return files.ca.empty() ? absl::OkStatus() : ReadCertificate(files.ca).status();
}

bool IsLocalAddress(std::string_view address) {
  if (address.starts_with(kUnix)) return true;
  const std::optional<std::string_view> host = HostOf(address);
  return host.has_value() && (*host == "localhost" || *host == "::1" || IsLoopbackV4(*host));
}

absl::Status CheckListener(std::string_view address, bool has_tls, bool has_identities) {
  if (!address.starts_with(kUnix) && !HostOf(address).has_value()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: expected HOST:PORT, [HOST]:PORT or unix:PATH as address to listen on", address));
  }
  if (IsLocalAddress(address) || (has_tls && has_identities)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{}: others than this machine may reach it: it needs {}", address,
                  has_tls ? "identities (--identities)" : "TLS (--tls-cert, --tls-key)"));
}

}  // namespace galley::store
