// The reverse index: from what observations looked at to the packages that looked. Pure: names of
// keys and what a change asks for.
//
//   "b" folder NUL package   names, each with a NUL behind it: what the package, which lies in
//                            `folder`, looked at beside itself
//   "p" path   NUL package   the package looked at `path` elsewhere (file, exists), present or
//                            absent, file or folder
//   "f" folder NUL package   it listed `folder` or globbed below it
//   "c" input  NUL package   it reads `input`'s cooked output
//
// Most of what a package looks at lies beside it, and much of that is not there: so one key holds
// all of it, and a change in a folder asks for the keys of the packages of that folder. A package's
// own source has no key: whatever has a record is affected by a change of the file of its name.
//
// A change of `path` asks for the package `path`, for "p" of it, and for "b" of its folder where
// its name is named. When its presence changed, each folder above may have come or gone with it, or
// hold other names: the same of every one, and "f". For a listing further up than the direct parent
// this asks for more than needed (only a folder that came or went changes it): never too little,
// and the price is a look-up. Whoever reads the cooked output of an affected package is affected
// too.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/content/snapshot.h"
#include "common/record/observation.h"

namespace galley::director {

// IndexEntries: the subjects under which a package is indexed; each list is sorted and unique.
// Paths are absolute and virtual, joined to the package's folder where they were asked relative to
// it.
struct IndexEntries {
  std::vector<std::string> paths;  // not the package's own source
  std::vector<std::string> folders;
  std::vector<std::string> cooked_inputs;
};

// Adds what `observed` of `package` says to `entries`.
void AddEntriesOf(std::string_view package, std::span<const record::Observed> observed,
                  IndexEntries& entries);

inline constexpr char kBesideKind = 'b';
inline constexpr char kPathKind = 'p';
inline constexpr char kFolderKind = 'f';
inline constexpr char kCookedKind = 'c';

// "p/Game/a.png\0": what all keys of one subject begin with; the package follows.
std::string IndexPrefix(char kind, std::string_view subject);
// The keys, with their values, under which `package` is indexed.
std::map<std::string, std::string> IndexRecordsOf(std::string_view package,
                                                  const IndexEntries& entries);

// AskedOfIndex: what changes ask for. All lists are sorted and unique.
struct AskedOfIndex {
  std::vector<std::string> packages;  // affected, where they have a record
  std::vector<std::string> prefixes;  // whoever has a key that begins so
  // Whoever has a key that begins so, if its value is one of MayMeet.
  std::map<std::string, std::vector<std::string>> beside;
};
AskedOfIndex AskedBy(std::span<const content::Change> changes);
// `value` of a key of kBesideKind names one of `names`, which are sorted.
bool MayMeet(std::string_view value, std::span<const std::string> names);

absl::Status CheckKeyPart(std::string_view what, std::string_view text);

}  // namespace galley::director
