#include "common/wire/tls_pair.h"

#include <utility>

#include "common/base/certificates.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::wire {
namespace {

constexpr uint64_t kPemBytesMax = 1 << 20;

}  // namespace

absl::StatusOr<TlsTexts> ReadTlsFiles(const TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    return absl::InvalidArgumentError(
        "TLS: expected a certificate and its key (--tls-cert, --tls-key)");
  }
  TlsTexts texts;
  ASSIGN_OR_RETURN(texts.certificate, ReadFile(files.certificate, kPemBytesMax));
  const PemText certificate{.file = files.certificate, .text = texts.certificate};
  ASSIGN_OR_RETURN(texts.end, CheckCertificates(certificate));
  ASSIGN_OR_RETURN(texts.key, ReadFile(files.key, kPemBytesMax));
  RETURN_IF_ERROR(CheckKeyPair(certificate, {.file = files.key, .text = texts.key}));
  if (!files.ca.empty()) {
    ASSIGN_OR_RETURN(texts.ca, ReadFile(files.ca, kPemBytesMax));
    RETURN_IF_ERROR(CheckCertificates({.file = files.ca, .text = texts.ca}).status());
  }
  return texts;
}

absl::StatusOr<bool> TlsPair::Look() {
  absl::StatusOr<TlsTexts> now = ReadTlsFiles(files_);
  const base::MutexLock lock(mutex_);
  if (!now.ok()) {
    if (std::exchange(problem_, now.status().ToString()) == problem_) return false;
    return now.status();
  }
  problem_.clear();
  if (now->certificate == texts_.certificate && now->key == texts_.key && now->ca == texts_.ca)
    return false;
  texts_ = *std::move(now);
  ++number_;
  return true;
}

std::optional<std::string> TlsPair::TellExpired(absl::Time now) {
  const base::MutexLock lock(mutex_);
  if (now < texts_.end || told_expired_ == number_) return std::nullopt;
  told_expired_ = number_;
  return fmt::format("{}: the certificate expired at {}: clients refuse it; put another in place",
                     files_.certificate, absl::FormatTime(texts_.end, absl::UTCTimeZone()));
}

std::optional<TlsTexts> TlsPair::NewerThan(uint64_t& seen) const {
  const base::MutexLock lock(mutex_);
  if (seen == number_) return std::nullopt;
  seen = number_;
  TlsTexts texts = texts_;
  if (!more_roots_.empty()) texts.ca += "\n" + more_roots_;
  return texts;
}

}  // namespace galley::wire
