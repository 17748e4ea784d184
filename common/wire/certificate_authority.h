// CertificateAuthority: gives short-lived certificates to the workers that a director launched,
// each for one name. It lives as long as its process, and its key is nowhere else: with the
// director all its certificates are worth nothing.
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
  // Its own certificate (PEM), by which those that it gives are known.
  virtual const std::string& certificate() const = 0;
  // A certificate (PEM) of the key that `request` (PEM, PKCS #10) is signed with, from now on for
  // `lifetime`. What the request says of names counts for nothing. INVALID_ARGUMENT: it is none, or
  // is not signed with its key.
  virtual absl::StatusOr<std::string> Issue(const std::string& request, const std::string& name,
                                            absl::Time now, absl::Duration lifetime) const = 0;
};
// INTERNAL: OpenSSL cannot.
absl::StatusOr<std::unique_ptr<CertificateAuthority>> NewCertificateAuthority(absl::Time now);

// A certificate (PEM) whose issuer has the name of such an authority. Whether it is the issuer is
// for the handshake to check.
bool IsOfALaunch(const std::string& certificate);

// PEM.
struct KeyAndRequest {
  std::string key, request;
};
absl::StatusOr<KeyAndRequest> NewKeyAndRequest();

}  // namespace galley::wire
