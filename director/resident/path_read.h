// PathRead: decides one read of a path in one world: which packages must be cooked first, and then
// the answer.
//
//   owners   Game/a.png.ktx2: /Game/a.png with ".ktx2", and the copied /Game/a.png.ktx2
//   Wanted   both packages
//   Decide   only one of them has the path: its file; both: a conflict, as in a cook by the book
//
// A generated package is wanted when its generator is cooked and lists it. A package that fails has
// no files, so it is in conflict with nobody.
//
// Threads: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/record/result.h"
#include "director/devices/change_event.h"
#include "director/resident/package_files.h"
#include "director/shell/path_index.h"

namespace galley::director {

// PackageFault: why a package has no files.
struct PackageFault {
  std::string package;
  std::string error;
  std::string log;    // digest text, or empty
  std::string cause;  // FailureCauseName
  bool is_infrastructure = false;
  bool operator==(const PackageFault&) const = default;
};

struct FoundFile {
  std::string package;
  record::Output output;
  std::optional<Digest> key;
  bool operator==(const FoundFile&) const = default;
};
struct NoFile {
  std::string text;
  bool operator==(const NoFile&) const = default;
};
using PathOutcome = std::variant<FoundFile, NoFile, PackageFault, devices::PathConflict>;

// AskedOwners: the packages that may have a path of a session.
struct AskedOwners {
  PathOwners owners;
  // The path may be a folder of which only a cook tells what it has: those who may have it are
  // among the owners (PathIndex::FolderOwnersOf). Such a folder is never found; the session's tree
  // has it afterwards.
  bool is_folder = false;
};
AskedOwners OwnersInSession(const PathIndex& paths, std::string_view path);

class PathRead {
 public:
  PathRead(std::string path, PathOwners owners)
      : path_(std::move(path)), owners_(std::move(owners)) {}

  // The packages whose outcome is needed now, sorted. Empty: the read can be decided.
  std::vector<std::string> Wanted() const;
  void TakeFiles(const std::string& package, PackageFilesPtr files);
  void TakeFault(const std::string& package, PackageFault fault);
  // REQUIRES: nothing is wanted.
  PathOutcome Decide() const;

  // The first package whose files were taken, and that may have the path as a folder of which only
  // a cook tells what it has; nullopt: there is none.
  std::optional<std::string> CookedFolderOwner() const;
  // The packages that may have the path, and their generators, sorted, each once.
  std::vector<std::string> Packages() const;
  // Whether one of these packages is generated.
  bool HasGenerators() const;
  // The suffix with which the package may have the path; nullopt: it is none of its owners.
  std::optional<std::string> SuffixOf(const std::string& package) const;

 private:
  using Known = std::variant<PackageFilesPtr, PackageFault>;
  struct Wants {
    std::string package;
  };
  using Judgement = std::variant<Wants, FoundFile, NoFile, PackageFault>;

  std::vector<const PathOwner*> All() const;
  Judgement Judge(const PathOwner& owner) const;
  // nullopt: the generators list the package.
  std::optional<Judgement> JudgeGenerators(const PathOwner& owner) const;

  std::string path_;
  PathOwners owners_;
  std::map<std::string, Known> known_;
};

}  // namespace galley::director
