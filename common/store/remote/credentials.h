// What a channel to a store of other people needs from files: a token, certificates. Read when the
// channel is made.
//
// A credential file holds one line: a token (sent as `authorization: Bearer <token>`), or a whole
// value that begins with "Bearer " or "Basic ". It should be readable by its owner only.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::store {

struct CredentialFiles {  // absolute paths; empty: none
  std::string credential;
  std::string tls_ca;    // PEM; empty: the system's
  std::string tls_cert;  // PEM, with tls_key: who we are
  std::string tls_key;
};

struct RemoteCredentials {
  std::string authorization;              // header's value; empty: none
  std::string tls_ca, tls_cert, tls_key;  // PEM
  std::vector<std::string> warnings;
};

// INVALID_ARGUMENT: a file that holds no token, no certificate, or not its key; else why it cannot
// be read. Neither repeats what the file holds.
absl::StatusOr<RemoteCredentials> ReadCredentials(const CredentialFiles& files);

}  // namespace galley::store
