// Certificates and private keys (PEM) as people hand them to us, checked before a library takes
// them: those of TLS end the process or lose the network over what they cannot read. Errors name
// the file and never repeat what it holds.
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

// INVALID_ARGUMENT: no certificate, or one of them cannot be read. The first one's end.
absl::StatusOr<absl::Time> CheckCertificates(const PemText& pem);
// INVALID_ARGUMENT: no key without a password, or not the key of the first certificate.
absl::Status CheckKeyPair(const PemText& certificates, const PemText& key);

}  // namespace galley
