// Certificates and private keys (PEM) of users, checked before a TLS library reads them: at a bad
// file the library ends the process or loses the network. Errors name the file, never its contents.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace galley {

struct PemText {
  std::string_view file;  // for errors
  std::string_view text;
};

// The expiry of the first certificate. INVALID_ARGUMENT: a certificate is missing or unreadable.
absl::StatusOr<absl::Time> CheckCertificates(const PemText& pem);
// INVALID_ARGUMENT: the key is unreadable, has a password, or is not the first certificate's.
absl::Status CheckKeyPair(const PemText& certificates, const PemText& key);

}  // namespace galley
