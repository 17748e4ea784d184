// RemoteCredentials: the token and certificates for a channel to a remote store, from files. The
// files are read when the channel is made; the token's file again when the server refuses the
// token.
//
// A credential file holds one line: a token (sent as `authorization: Bearer <token>`), or a whole
// header value that begins with "Bearer " or "Basic ". Only its owner should be able to read the
// file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace galley::store {

struct CredentialFiles {  // absolute paths; empty: none
  std::string credential;
  std::string tls_ca;    // PEM; empty: the system's
  std::string tls_cert;  // PEM: our certificate, with tls_key
  std::string tls_key;
};

struct RemoteCredentials {
  std::string authorization;              // header's value; empty: none
  std::string tls_ca, tls_cert, tls_key;  // PEM
  std::vector<std::string> warnings;
};

// INVALID_ARGUMENT: a file holds no token or no certificate, or the key belongs to another
// certificate. Other errors: a file cannot be read. No error repeats a file's contents.
absl::StatusOr<RemoteCredentials> ReadCredentials(const CredentialFiles& files);

// Authorization: the value of the authorization header. It changes with its file: tokens expire,
// and a new token replaces the file during a cook.
// Threads: any.
class Authorization {
 public:
  Authorization(std::string value, std::string file)
      : file_(std::move(file)), value_(std::move(value)) {}

  std::string value() const;
  // Reads the file again after the server refused a value. True: there is another value now, worth
  // a try.
  bool Renew(const std::string& refused);
  // Returns the reason of a refusal for people: "the server does not accept the token of <file>,
  // which is read again before each further try".
  std::string RefusalText() const;

 private:
  const std::string file_;
  mutable base::Mutex mutex_;
  std::string value_ GALLEY_GUARDED_BY(mutex_);
  std::string problem_ GALLEY_GUARDED_BY(mutex_);  // why the file could not be read again
};

}  // namespace galley::store
