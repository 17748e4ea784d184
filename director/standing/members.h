// Members: the table of packages of a cook that stands, with the roots that hold each package and
// the action keys of its results: all that a later cook needs of packages that it does not look at.
//
// Packages lie in chunks by a hash of their names. Each chunk has a digest, so that the digest of
// the whole table (the `snapshot` of a cook's summary) costs only the changed chunks.
//
// Changes since the table was written lie beside the table (common/content/patched_file.h).
//
// Format (docs/formats.md, "Members"): little-endian, records of fixed size, mapped.
//
// Cost: Find O(log of a chunk). Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/content/patched_file.h"

namespace galley::director {

struct Member {
  std::string package;
  uint32_t roots = 0;  // one bit for each platform of the table: its root holds the package
  // By platform: the action key of the package's result; nullopt: there is no result.
  std::vector<std::optional<Digest>> keys;
  bool operator==(const Member&) const = default;
};

// Action keys of done results, by package and platform.
using DoneKeys = std::map<std::pair<std::string, std::string>, Digest>;

// Returns the digest of all done results: the same as Members::snapshot for the same keys.
Digest DigestOfDone(const DoneKeys& done);

// MembersFile: a table as input of PatchedFile::Write, and its snapshot digest.
struct MembersFile {
  std::string bytes;
  Digest snapshot;
};

// Returns the table of these packages; REQUIRES: each package is given once, in any order, and at
// most 32 platforms.
MembersFile EncodeMembers(const std::vector<std::string>& platforms, std::vector<Member> members);

class Members {
 public:
  // NOT_FOUND: there is no table. INVALID_ARGUMENT: the table is damaged. FAILED_PRECONDITION: the
  // table has another version.
  static absl::StatusOr<Members> Open(const std::string& file);
  // Opens a table in memory. INVALID_ARGUMENT: the table is damaged.
  static absl::StatusOr<Members> FromBytes(std::string bytes);
  Members(Members&&) noexcept;
  Members& operator=(Members&&) noexcept;
  ~Members();

  std::string id() const;  // unique to the table
  const std::vector<std::string>& platforms() const;
  size_t size() const;
  std::optional<Member> Find(std::string_view package) const;
  // Returns the package's Member::roots; 0: the package is no member.
  uint32_t RootsOf(std::string_view package) const;
  Digest snapshot() const;
  std::vector<Digest> Keys() const;  // of all results, in no order
  // Names of all packages, in no order; valid as long as the table.
  std::vector<std::string_view> Names() const;

  // Returns a copy of this table with `changed` members and without `gone`. Cost: the chunks of the
  // changed members, and all changes since the file was written; the whole table if members are new
  // or gone.
  MembersFile With(const std::vector<Member>& changed,
                   const std::set<std::string, std::less<>>& gone = {}) const;

 private:
  class Mapping;
  static absl::StatusOr<Members> Of(std::unique_ptr<content::PatchedFile> file);
  explicit Members(std::unique_ptr<Mapping> mapping);
  Digest SnapshotWith(const std::map<size_t, Digest>& digests) const;
  std::unique_ptr<Mapping> mapping_;
};

}  // namespace galley::director
