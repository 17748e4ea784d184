// Index: the reverse index, from the subjects of observations to the packages that observed them.
// Pure: makes the names of keys, and the keys to look up for a change.
//
//   "b" folder NUL package   names, each followed by a NUL: what the package, which lies in
//                            `folder`, looked at beside itself
//   "p" path   NUL package   the package looked at `path` elsewhere (file, exists), present or
//                            absent, file or folder
//   "f" folder NUL package   the package listed `folder` or globbed below it
//   "c" input  NUL package   the package reads `input`'s cooked output
//
// Most paths that a package looks at lie beside it, and many do not exist: so one key holds all
// names beside a package, and a change in a folder looks up the keys of the packages of that
// folder. A package's own source has no key: a change of the source always affects the record of
// the same name.
//
// A change of `path` looks up the package `path`, its "p" keys, and the "b" keys of its folder that
// contain its name. If the presence of `path` changed, each folder above may have come, gone or
// changed its names: the change also looks up the same keys of each such folder, and its "f" keys.
// For folders above the direct parent this finds too many packages, because a listing changes only
// if a folder came or went; it never finds too few, and costs only look-ups. A package that reads
// the cooked output of an affected package is affected as well.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/content/changes.h"
#include "common/record/observation.h"

namespace galley::director {

// IndexEntries: the subjects under which a package is indexed; each list is sorted and unique.
// Paths are absolute and virtual; a path that was asked relative to the package's folder is joined
// to the folder.
struct IndexEntries {
  std::vector<std::string> paths;  // without the package's own source
  std::vector<std::string> folders;
  std::vector<std::string> cooked_inputs;
};

// Adds the subjects of `observed`, the observations of `package`, to `entries`.
void AddEntriesOf(std::string_view package, std::span<const record::Observed> observed,
                  IndexEntries& entries);

inline constexpr char kBesideKind = 'b';
inline constexpr char kPathKind = 'p';
inline constexpr char kFolderKind = 'f';
inline constexpr char kCookedKind = 'c';

// Returns the common beginning of all keys of one subject, "p/Game/a.png\0"; the package follows.
std::string IndexPrefix(char kind, std::string_view subject);
// Returns the keys, with their values, under which `package` is indexed.
std::map<std::string, std::string> IndexRecordsOf(std::string_view package,
                                                  const IndexEntries& entries);

// AskedOfIndex: the keys to look up for changes. All lists are sorted and unique.
struct AskedOfIndex {
  std::vector<std::string> packages;  // affected, if they have a record
  std::vector<std::string> prefixes;  // each key with this prefix names an affected package
  // By prefix, names: a key with the prefix names an affected package if MayMeet accepts the key's
  // value for the names.
  std::map<std::string, std::vector<std::string>> beside;
};
AskedOfIndex AskedBy(std::span<const content::Change> changes);
// Says whether `value` of a key of kBesideKind contains one of `names`, which are sorted.
bool MayMeet(std::string_view value, std::span<const std::string> names);

absl::Status CheckKeyPart(std::string_view what, std::string_view text);

}  // namespace galley::director
