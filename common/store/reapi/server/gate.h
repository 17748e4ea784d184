// Gate: identifies callers and checks their rights. Identities come from a file:
//
//   [[identity]]
//   name = "ci"
//   token_sha256 = "<64 hex digits>"    # of the bearer token; and/or
//   certificate = "spiffe://farm/ci"    # a URI or DNS name of the client certificate, or its CN
//   role = "writer"                     # reader | writer | admin
//   write_results = true                # default false; an admin may
//   instances = ["main"]                # default: all
//   trust = ["main"]                    # trust domains whose results may be written; default: all
//
// Without identities everybody may read, write, and write results; then a server listens on
// loopback only. With identities, a caller without a known identity gets UNAUTHENTICATED, and a
// caller without the right PERMISSION_DENIED. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/reapi/server/reapi_core.h"

namespace galley::store {

enum class Right {
  kNone,          // also for callers without a credential
  kRead,          // blobs and results
  kWrite,         // blobs
  kWriteResults,  // results of actions
};

enum class Role { kReader, kWriter, kAdmin };

struct Identity {
  std::string name;
  std::string token_sha256;  // 32 bytes; "": none
  std::string certificate;   // "": none
  Role role = Role::kReader;
  bool may_write_results = false;
  std::vector<std::string> instances;
  std::vector<std::string> trust;
};

// INVALID_ARGUMENT "<file>:<line>: ...": something is unknown, missing or there twice.
absl::StatusOr<std::vector<Identity>> ParseIdentities(std::string_view toml, std::string_view file);
// Reads a file of identities. PERMISSION_DENIED: others than its owner may read or write the file.
absl::StatusOr<std::vector<Identity>> ReadIdentities(const std::string& file);

// IdentitiesFile: a file of identities, checked for changes again and again.
// Threads: one at a time.
class IdentitiesFile {
 public:
  // `path`: "": no file; nothing ever changes.
  explicit IdentitiesFile(std::string path) : path_(std::move(path)) {}
  // Returns the identities at the first call and after each change of the file; nullopt: no change.
  // An error, returned once for each change: the file's identities cannot be used.
  absl::StatusOr<std::optional<std::vector<Identity>>> Changed();

 private:
  // Returns the inode, size and times of the file.
  std::string Look() const;

  const std::string path_;
  std::string seen_;  // "": not read yet, or gone
};

// Credentials: the credentials that a caller presents.
struct Credentials {
  std::optional<std::string> authorization;    // the header
  std::vector<std::string> certificate_names;  // of a verified certificate: URIs, DNS names, CN
  std::string peer;
};

class Gate {
 public:
  explicit Gate(std::vector<Identity> identities) : identities_(std::move(identities)) {}

  bool is_open() const { return identities_.empty(); }
  // UNAUTHENTICATED, PERMISSION_DENIED: as above.
  absl::StatusOr<Caller> Admit(const Credentials& credentials, Right right) const;

 private:
  absl::StatusOr<const Identity*> Identify(const Credentials& credentials) const;

  const std::vector<Identity> identities_;
};

}  // namespace galley::store
