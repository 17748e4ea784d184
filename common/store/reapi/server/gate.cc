#include "common/store/reapi/server/gate.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/hex.h"
#include "common/base/status_macros.h"
#include "common/toml/toml_value.h"
#include "common/toml/value_reader.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr uint64_t kFileBytesMax = 1 << 20;

absl::StatusOr<Role> ParseRole(const TableReader& table) {
  ASSIGN_OR_RETURN(const std::string role, table.Required("role"));
  if (role == "reader") return Role::kReader;
  if (role == "writer") return Role::kWriter;
  if (role == "admin") return Role::kAdmin;
  return table.Error("role", fmt::format("role \"{}\": expected reader, writer or admin", role));
}

absl::StatusOr<Identity> ParseIdentity(const TomlValue& value, std::string_view file) {
  ASSIGN_OR_RETURN(const TableReader table,
                   TableReader::Create(value, file, "identity",
                                       {"name", "token_sha256", "certificate", "role",
                                        "write_results", "instances", "trust"}));
  Identity identity;
  ASSIGN_OR_RETURN(identity.name, table.Required("name"));
  ASSIGN_OR_RETURN(identity.role, ParseRole(table));
  ASSIGN_OR_RETURN(const auto token, table.String("token_sha256"));
  ASSIGN_OR_RETURN(const auto certificate, table.String("certificate"));
  ASSIGN_OR_RETURN(const auto write_results, table.Bool("write_results"));
  ASSIGN_OR_RETURN(const auto instances, table.Strings("instances"));
  ASSIGN_OR_RETURN(const auto trust, table.Strings("trust"));
  if (token.has_value()) {
    const std::optional<std::string> hash = HexDecode(*token);
    if (!hash.has_value() || hash->size() != Digest::kHashSize) {
      return table.Error("token_sha256",
                         "expected the 64 lower-case hex digits that sha256sum says of the token");
    }
    identity.token_sha256 = *hash;
  }
  identity.certificate = certificate.value_or("");
  if (identity.token_sha256.empty() && identity.certificate.empty())
    return table.Error("name",
                       fmt::format("{}: expected token_sha256 or certificate", identity.name));
  identity.may_write_results = write_results.value_or(identity.role == Role::kAdmin);
  if (identity.may_write_results && identity.role == Role::kReader)
    return table.Error("write_results", fmt::format("{}: a reader writes nothing", identity.name));
  identity.instances = instances.value_or(std::vector<std::string>());
  for (const std::string& instance : identity.instances) {
    const absl::Status status = CheckInstanceName(instance);
    if (!status.ok()) return table.Error("instances", MessageOf(status));
  }
  identity.trust = trust.value_or(std::vector<std::string>());
  return identity;
}

// In a time that says nothing of where they differ.
bool AreEqual(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

bool Has(const Identity& identity, Right right) {
  switch (right) {
    case Right::kNone:
    case Right::kRead:
      return true;
    case Right::kWrite:
      return identity.role != Role::kReader;
    case Right::kWriteResults:
      return identity.may_write_results;
  }
  return false;
}

std::string_view NameOf(Right right) {
  return right == Right::kWriteResults ? "to write results (write_results)" : "to write (writer)";
}

}  // namespace

absl::StatusOr<std::vector<Identity>> ParseIdentities(std::string_view toml,
                                                      std::string_view file) {
  ASSIGN_OR_RETURN(const TomlValue document, ParseToml(toml, file));
  ASSIGN_OR_RETURN(const TableReader top,
                   TableReader::Create(document, file, "file", {"identity"}));
  const TomlValue* list = top.Find("identity");
  std::vector<Identity> identities;
  if (list == nullptr || list->array() == nullptr || list->array()->empty())
    return ErrorAt(file, list == nullptr ? 0 : list->line, "expected [[identity]], one at least");
  std::set<std::string> seen;
  for (const TomlValue& value : *list->array()) {
    ASSIGN_OR_RETURN(Identity identity, ParseIdentity(value, file));
    for (const std::string& once : {"name " + identity.name, "token " + identity.token_sha256,
                                    "certificate " + identity.certificate}) {
      if (!once.ends_with(' ') && !seen.insert(once).second) {
        return ErrorAt(file, value.line,
                       fmt::format("{}: its {} is another identity's, too", identity.name,
                                   once.substr(0, once.find(' '))));
      }
    }
    identities.push_back(std::move(identity));
  }
  return identities;
}

absl::StatusOr<std::vector<Identity>> ReadIdentities(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return ErrnoStatus(errno, "read", file);
  if ((s.st_mode & 077) != 0) {
    return PermissionDeniedError("{}: expected mode 0600, others may read or write it: chmod 600",
                                 file);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kFileBytesMax));
  return ParseIdentities(text, file);
}

std::string IdentitiesFile::Look() const {
  struct stat s {};
  if (path_.empty() || ::stat(path_.c_str(), &s) != 0) return "";
  return fmt::format("{} {} {}.{} {}.{} {:o}", s.st_ino, s.st_size, s.st_mtim.tv_sec,
                     s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec, s.st_mode);
}

absl::StatusOr<std::optional<std::vector<Identity>>> IdentitiesFile::Changed() {
  std::string now = Look();
  if (now == seen_) return std::optional<std::vector<Identity>>();
  seen_ = std::move(now);
  ASSIGN_OR_RETURN(std::vector<Identity> identities, ReadIdentities(path_));
  return std::optional(std::move(identities));
}

absl::StatusOr<const Identity*> Gate::Identify(const Credentials& credentials) const {
  if (credentials.authorization.has_value()) {
    const std::string_view header = *credentials.authorization;
    if (header.starts_with(kBearer)) {
      const Digest shown = Digest::Of(header.substr(kBearer.size()));
      for (const Identity& identity : identities_)
        if (AreEqual(identity.token_sha256, shown.hash())) return &identity;
    }
    return absl::UnauthenticatedError("the authorization header is not that of any identity");
  }
  for (const Identity& identity : identities_) {
    const std::vector<std::string>& names = credentials.certificate_names;
    if (!identity.certificate.empty() &&
        std::ranges::find(names, identity.certificate) != names.end())
      return &identity;
  }
  return absl::UnauthenticatedError(
      "expected a bearer token in the authorization header, or a client certificate that is known");
}

absl::StatusOr<Caller> Gate::Admit(const Credentials& credentials, Right right) const {
  Caller caller{.peer = credentials.peer};
  if (is_open() || right == Right::kNone) return caller;
  ASSIGN_OR_RETURN(const Identity* const identity, Identify(credentials));
  if (!Has(*identity, right)) {
    return PermissionDeniedError(
        "{} has no right {}; who runs the store gives it one in its file of identities (galley "
        "store serve --identities)",
        identity->name, NameOf(right));
  }
  caller.name = identity->name;
  caller.may_write_results = identity->may_write_results;
  caller.instances = identity->instances;
  caller.trust = identity->trust;
  return caller;
}

}  // namespace galley::store
