// RemoteCredentials: what a channel to a remote store needs from files: a token, certificates. They
// are read when the channel is made; the token again when the server refuses it.
//
// A credential file holds one line: a token (sent as `authorization: Bearer <token>`), or a whole
// value that begins with "Bearer " or "Basic ". It should be readable by its owner only.
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

// The header's value, which changes with its file: tokens expire, and whoever makes a new one
// replaces the file under a cook.
// Threads: any.
class Authorization {
 public:
  Authorization(std::string value, std::string file)
      : file_(std::move(file)), value_(std::move(value)) {}

  std::string value() const;
  // The server refused this value. True: there is another one by now, worth a try.
  bool Renew(const std::string& refused);
  // "the server does not accept the token of <file>, which is read again before each try", or what
  // else a person needs to know.
  std::string RefusalText() const;

 private:
  const std::string file_;
  mutable base::Mutex mutex_;
  std::string value_ GALLEY_GUARDED_BY(mutex_);
  std::string problem_ GALLEY_GUARDED_BY(mutex_);  // why the file could not be read again
};

}  // namespace galley::store
