// CertificateAuthority: issues short-lived certificates to the workers that a director launched,
// each for one name. The authority's key is in the memory of its process only: when the director
// ends, all its certificates are worthless.
//
// Keys are of the curve P-256, certificates X.509 (RFC 5280) for TLS clients only.
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace galley::wire {

class CertificateAuthority {
 public:
  virtual ~CertificateAuthority() = default;
  // The authority's own certificate (PEM), against which its certificates are verified.
  virtual const std::string& certificate() const = 0;
  // A certificate (PEM) for `name` and for the key of `request` (PEM, PKCS #10), valid until `now`
  // + `lifetime`. Names in the request are ignored. INVALID_ARGUMENT: `request` is not a request
  // that is signed with its own key.
  virtual absl::StatusOr<std::string> Issue(const std::string& request, const std::string& name,
                                            absl::Time now, absl::Duration lifetime) const = 0;
};
// INTERNAL: OpenSSL failed.
absl::StatusOr<std::unique_ptr<CertificateAuthority>> NewCertificateAuthority(absl::Time now);

// True: the issuer of `certificate` (PEM) has the name of such an authority. The handshake checks
// the signature.
bool IsOfALaunch(const std::string& certificate);

// A private key and a request for its certificate, PEM.
struct KeyAndRequest {
  std::string key, request;
};
absl::StatusOr<KeyAndRequest> NewKeyAndRequest();

}  // namespace galley::wire
