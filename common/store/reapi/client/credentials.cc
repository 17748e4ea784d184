#include "common/store/reapi/client/credentials.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "common/base/certificates.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr uint64_t kTokenBytesMax = 8 << 10;  // gRPC's own limit of all metadata is 8 KiB
constexpr uint64_t kPemBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadAuthorization(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kTokenBytesMax));
  const auto stripped = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  const std::string token(stripped.data(), stripped.size());
  const bool has_scheme = token.starts_with("Bearer ") || token.starts_with("Basic ");
  const std::string_view secret =
      has_scheme ? std::string_view(token).substr(token.find(' ') + 1) : std::string_view(token);
  const bool is_plain = std::ranges::all_of(secret, [](char c) { return c > 0x20 && c < 0x7f; });
  if (secret.empty() || !is_plain || token == "Bearer" || token == "Basic") {
    return InvalidArgumentError(
        "credential file {}: expected one line with a token, or with \"Bearer ...\" or \"Basic "
        "...\"",
        file);
  }
  return has_scheme ? token : "Bearer " + token;
}

absl::StatusOr<std::string> ReadPem(const std::string& file, std::string_view what) {
  if (file.empty()) return std::string();
  absl::StatusOr<std::string> text = ReadFile(file, kPemBytesMax);
  return text.ok() ? text : Annotate(text.status(), what);
}

// gRPC's word for what cannot be used is that the server has no address.
absl::Status CheckPems(const CredentialFiles& files, const RemoteCredentials& read) {
  const PemText certificate{.file = files.tls_cert, .text = read.tls_cert};
  if (!files.tls_ca.empty()) {
    RETURN_IF_ERROR(Annotate(
        CheckCertificates({.file = files.tls_ca, .text = read.tls_ca}).status(), "tls_ca"));
  }
  if (!files.tls_cert.empty())
    RETURN_IF_ERROR(Annotate(CheckCertificates(certificate).status(), "tls_cert"));
  if (files.tls_key.empty()) return absl::OkStatus();
  return Annotate(CheckKeyPair(certificate, {.file = files.tls_key, .text = read.tls_key}),
                  "tls_key");
}

}  // namespace

absl::StatusOr<RemoteCredentials> ReadCredentials(const CredentialFiles& files) {
  RemoteCredentials credentials;
  if (!files.credential.empty()) {
    ASSIGN_OR_RETURN(credentials.authorization, ReadAuthorization(files.credential));
  }
  ASSIGN_OR_RETURN(credentials.tls_ca, ReadPem(files.tls_ca, "tls_ca"));
  ASSIGN_OR_RETURN(credentials.tls_cert, ReadPem(files.tls_cert, "tls_cert"));
  ASSIGN_OR_RETURN(credentials.tls_key, ReadPem(files.tls_key, "tls_key"));
  RETURN_IF_ERROR(CheckPems(files, credentials));
  for (const std::string& secret : {files.credential, files.tls_key}) {
    if (secret.empty()) continue;
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(secret));
    if ((stat.mode & 077) != 0) {
      credentials.warnings.push_back(
          fmt::format("{} can be read by others (mode {:04o}): chmod 600 {}", secret,
                      stat.mode & 07777, secret));
    }
  }
  return credentials;
}

std::string Authorization::value() const {
  const base::MutexLock lock(mutex_);
  return value_;
}

bool Authorization::Renew(const std::string& refused) {
  const base::MutexLock lock(mutex_);
  if (value_ != refused) return true;  // another thread was here
  if (file_.empty()) return false;
  absl::StatusOr<std::string> read = ReadAuthorization(file_);
  problem_ = read.ok() ? "" : MessageOf(read.status());
  if (!read.ok() || *read == value_) return false;
  LogInfo("credential_file={} holds another token: it is used from now on", file_);
  value_ = *std::move(read);
  return true;
}

std::string Authorization::RefusalText() const {
  const base::MutexLock lock(mutex_);
  if (file_.empty())
    return "the server accepts nobody without a credential: [store] credential_file names none";
  if (!problem_.empty())
    return fmt::format(
        "the server does not accept the token that was in {}, and this cannot be "
        "read again: {}",
        file_, problem_);
  return fmt::format(
      "the server does not accept the token of {}, which is read again before each "
      "further try",
      file_);
}

}  // namespace galley::store
