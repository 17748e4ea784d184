#include "director/shell/changed_packages.h"

#include <algorithm>
#include <iterator>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/project/project.h"
#include "director/shell/lost_files.h"

namespace galley::director {
namespace {

std::vector<std::string> SortedUnique(std::vector<std::string> names) {
  SortUnique(names);
  return names;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ChangedPackages(Journal& journal,
                                                         std::span<const content::Change> changes) {
  std::vector<std::string> packages;
  std::vector<content::Change> looked_at(changes.begin(), changes.end());
  for (const content::Change& change : changes) {
    packages.push_back(change.path);
    if (!project::IsSidecar(change.path)) continue;
    std::string package =
        change.path.substr(0, change.path.size() - project::kSidecarSuffix.size());
    packages.push_back(package);
    // Whoever reads a file is warned when the file is a package that is not in the cook.
    looked_at.push_back({.path = std::move(package), .was_there = true, .is_there = true});
  }
  ASSIGN_OR_RETURN(std::vector<std::string> affected, journal.Affected(looked_at));
  packages.insert(packages.end(), std::make_move_iterator(affected.begin()),
                  std::make_move_iterator(affected.end()));
  return SortedUnique(std::move(packages));
}

absl::StatusOr<std::vector<std::string>> ChangedSinceLastCook(
    Journal& journal, std::span<const content::Change> changes) {
  ASSIGN_OR_RETURN(std::vector<std::string> packages, journal.Affected(changes));
  ASSIGN_OR_RETURN(const JournalProgress progress, journal.Progress());
  const auto less = [](const content::Change& change, const std::string& path) {
    return change.path < path;
  };
  for (const BlameRecord& blame : progress.blamed) {
    const auto at = std::lower_bound(changes.begin(), changes.end(), blame.package, less);
    if (at != changes.end() && at->path == blame.package) packages.push_back(blame.package);
  }
  return SortedUnique(std::move(packages));
}

absl::StatusOr<std::vector<std::string>> PackagesToDistrust(
    const std::vector<content::Change>* changes, bool has_lost, store::Store& store,
    Journal& journal) {
  std::vector<std::string> names;
  if (changes == nullptr) {
    RETURN_IF_ERROR(journal.ForEach(
        [&](std::string_view name, const PackageRecord&) { names.emplace_back(name); }));
    return names;
  }
  ASSIGN_OR_RETURN(names, ChangedSinceLastCook(journal, *changes));
  if (!has_lost) return names;
  ASSIGN_OR_RETURN(const std::vector<std::string> lost, PackagesThatLost(journal, store));
  names.insert(names.end(), lost.begin(), lost.end());
  return names;
}

}  // namespace galley::director
