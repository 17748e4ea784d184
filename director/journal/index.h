// The reverse index: from what observations looked at to the packages that looked. Pure: names of
// keys and what a change asks for.
//
//   "p" path   NUL package   the package looked at `path` (file, exists, its own source), present
//                            or absent, file or folder
//   "f" folder NUL package   it listed `folder` or globbed below it
//   "c" input  NUL package   it reads `input`'s cooked output
//
// A change of `path` asks for "p" of it. When its presence changed, each folder above may have come
// or gone with it, or hold other names: "p" and "f" of every one. For a listing further up than the
// direct parent this asks for more than needed (only a folder that came or went changes it): never
// too little, and the price is a look-up. Whoever reads the cooked output of an affected package is
// affected too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/content/snapshot.h"
#include "director/journal/journal.h"

namespace galley::director {

// IndexEntries: the subjects under which one platform's record of a package is indexed; each list
// is sorted and unique.
struct IndexEntries {
  std::vector<std::string> paths;
  std::vector<std::string> folders;
  std::vector<std::string> cooked_inputs;
};

// INVALID_ARGUMENT when a name is empty or holds NUL, which separates the parts of a key.
absl::StatusOr<IndexEntries> EntriesOf(const JournalUpdate& update);

inline constexpr char kPathKind = 'p';
inline constexpr char kFolderKind = 'f';
inline constexpr char kCookedKind = 'c';

// "p/Game/a.png\0": what all keys of one subject begin with; the package follows.
std::string IndexPrefix(char kind, std::string_view subject);
// The prefixes of all that `entries` say, sorted and unique.
std::vector<std::string> IndexPrefixes(const IndexEntries& entries);
// The prefixes that `changes` ask for, sorted and unique.
std::vector<std::string> AskedPrefixes(std::span<const content::Change> changes);

absl::Status CheckKeyPart(std::string_view what, std::string_view text);

}  // namespace galley::director
