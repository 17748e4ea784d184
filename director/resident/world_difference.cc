#include "director/resident/world_difference.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/host/impact.h"

namespace galley::director {
namespace {

bool IsSameMount(const content::Mount& a, const content::Mount& b) {
  return a.path == b.path && a.directory == b.directory && a.priority == b.priority &&
         a.stage_as == b.stage_as;
}

bool IsSamePlatform(const project::Platform& a, const project::Platform& b) {
  return a.name == b.name && a.parameters == b.parameters;
}

bool IsSameGround(const World& before, const World& after) {
  return before.environment == after.environment &&
         std::ranges::equal(before.project->mounts, after.project->mounts, IsSameMount) &&
         std::ranges::equal(before.project->platforms, after.project->platforms, IsSamePlatform);
}

// The package whose source or sidecar the file is.
std::string PackageOfFile(std::string path) {
  if (project::IsSidecar(path)) path.resize(path.size() - project::kSidecarSuffix.size());
  return path;
}

// Changes as if the sources of these packages had changed: so FindImpact finds who reads outputs.
void AddAsChanged(const std::vector<std::string>& packages, std::vector<content::Change>& changes) {
  for (const std::string& package : packages)
    changes.push_back({.path = package, .was_there = true, .is_there = true});
}

// The packages of the files that differ, those whose rules differ, and those that need what is
// gone.
std::vector<std::string> ChangedByThemselves(const World& before, const World& after,
                                             std::vector<content::Change>& changes,
                                             const NeedingPackages& needing) {
  std::vector<std::string> packages, gone, others;
  for (const content::Change& change : changes) {
    packages.push_back(PackageOfFile(change.path));
    if (!change.is_there) gone.push_back(change.path);
  }
  if (!gone.empty()) others = needing(gone);
  if (before.table->resolver() != after.table->resolver()) {
    for (std::string& package : after.table->DifferentFrom(*before.table))
      others.push_back(std::move(package));
  }
  AddAsChanged(others, changes);
  packages.insert(packages.end(), others.begin(), others.end());
  return packages;
}

}  // namespace

WorldDifference DifferenceOf(const World& before, const World& after, Journal& journal,
                             const NeedingPackages& needing, size_t difference_max) {
  if (&before == &after) return {};
  if (!IsSameGround(before, after)) return {.is_all = true};
  WorldDifference difference;
  std::vector<content::Change> changes;
  if (before.snapshot != after.snapshot) {
    changes = content::DiffSnapshots(*before.snapshot, *after.snapshot, &difference.files);
  }
  if (changes.size() > difference_max) return {.is_all = true};
  for (const content::Change& change : changes) difference.files.push_back(change.path);
  SortUnique(difference.files);
  difference.packages = ChangedByThemselves(before, after, changes, needing);
  const absl::StatusOr<Impact> impact = FindImpact(journal, changes);
  if (!impact.ok()) {
    LogWarning("devices: all packages are taken for changed: {}", MessageOf(impact.status()));
    return {.is_all = true};
  }
  for (const ImpactedPackage& package : impact->packages)
    difference.packages.push_back(package.package);
  SortUnique(difference.packages);
  if (difference.packages.size() > difference_max) return {.is_all = true};
  return difference;
}

}  // namespace galley::director
