// Gate: who a caller is, and what they may do. Identities come from a file:
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
// With no identity everybody may read, write, and write results: a server listens on loopback only
// then. With one, who shows none is UNAUTHENTICATED, and who lacks a right PERMISSION_DENIED. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/reapi/server/reapi_core.h"

namespace galley::store {

enum class Right {
  kNone,          // also who shows no credential
  kRead,          // what is stored
  kWrite,         // blobs
  kWriteResults,  // a result of an action
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

// INVALID_ARGUMENT "<file>:<line>: ...": what is unknown, missing or there twice.
absl::StatusOr<std::vector<Identity>> ParseIdentities(std::string_view toml, std::string_view file);
// The file's; PERMISSION_DENIED: others than its owner may read or write it.
absl::StatusOr<std::vector<Identity>> ReadIdentities(const std::string& file);

// IdentitiesFile: a file of identities that is looked at again and again.
// Threads: one at a time.
class IdentitiesFile {
 public:
  // "": none, which never changes.
  explicit IdentitiesFile(std::string path) : path_(std::move(path)) {}
  // The identities in the file, the first time and when it has changed since; nullopt: it is the
  // same. An error, told once: its identities cannot be used.
  absl::StatusOr<std::optional<std::vector<Identity>>> Changed();

 private:
  // The inode, size and times of the file.
  std::string Look() const;

  const std::string path_;
  std::string seen_;  // "": not looked at, or gone
};

// Credentials: what a caller shows.
struct Credentials {
  std::optional<std::string> authorization;    // the header
  std::vector<std::string> certificate_names;  // of a verified certificate: URIs, DNS names, CN
  std::string peer;
};

class Gate {
 public:
  explicit Gate(std::vector<Identity> identities) : identities_(std::move(identities)) {}

  bool is_open() const { return identities_.empty(); }
  // UNAUTHENTICATED, PERMISSION_DENIED.
  absl::StatusOr<Caller> Admit(const Credentials& credentials, Right right) const;

 private:
  absl::StatusOr<const Identity*> Identify(const Credentials& credentials) const;

  const std::vector<Identity> identities_;
};

}  // namespace galley::store
