// Index: the reverse index, from what observations looked at to the packages that looked. Pure:
// names of keys, and the keys that a change asks for.
//
//   "b" folder NUL package   names, each followed by a NUL: what the package, which lies in
//                            `folder`, looked at beside itself
//   "p" path   NUL package   the package looked at `path` elsewhere (file, exists), present or
//                            absent, file or folder
//   "f" folder NUL package   the package listed `folder` or globbed below it
//   "c" input  NUL package   the package reads `input`'s cooked output
//
// Most of what a package looks at lies beside it, and much of that does not exist: so one key holds
// all such names, and a change in a folder asks for the keys of the packages of that folder. A
// package's own source has no key: a change of the file with a record's name always affects the
// record.
//
// A change of `path` asks for the package `path`, for its "p" keys, and for the "b" keys of its
// folder that contain its name. When the presence of `path` changed, each folder above may have
// come or gone with it, or hold other names: the change asks for the same keys of each such folder,
// and for its "f" keys. For a listing further up than the direct parent this asks for more than
// needed (only a folder that came or went changes the listing): never for too little, and the price
// is a look-up. A package that reads the cooked output of an affected package is affected as well.
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

// Adds what `observed` of `package` looked at to `entries`.
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

// AskedOfIndex: the keys that changes ask for. All lists are sorted and unique.
struct AskedOfIndex {
  std::vector<std::string> packages;  // affected, if they have a record
  std::vector<std::string> prefixes;  // the package of each key that begins so is affected
  // The package of a key that begins so is affected if MayMeet accepts the key's value for these
  // names.
  std::map<std::string, std::vector<std::string>> beside;
};
AskedOfIndex AskedBy(std::span<const content::Change> changes);
// Says whether `value` of a key of kBesideKind contains one of `names`, which are sorted.
bool MayMeet(std::string_view value, std::span<const std::string> names);

absl::Status CheckKeyPart(std::string_view what, std::string_view text);

}  // namespace galley::director
