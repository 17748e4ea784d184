#include "director/resident/world_difference.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/core/packages/package_data.h"
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

// True: the file has the same stamp in both worlds, and nobody has read it in the one before. It
// may have been edited within one tick of the clock (common/base/racy.h), but what was shown and
// cooked before holds nothing of its bytes.
bool IsUnread(const content::Change& change, const World& before, const World& after) {
  const content::FileEntry* const old = before.snapshot->Find(change.path);
  const content::FileEntry* const now = after.snapshot->Find(change.path);
  if (old == nullptr || now == nullptr || !old->error.empty() || !now->error.empty()) return false;
  return old->stat == now->stat && old->host_path == now->host_path &&
         !before.snapshot->KnownDigest(change.path);
}

// Says whether the world has no such package, or never cooks it: references to it fail. Whether a
// package is generated is not known before its generator is cooked.
bool IsGone(const World& world, const std::string& package) {
  if (!GeneratorName(package).empty()) return false;
  const std::optional<CatalogEntry> entry = world.table->Find(package);
  return !entry || entry->never_cook;
}

// The packages of the files that differ, and those whose rules differ.
std::vector<std::string> OfFilesAndRules(const World& before, const World& after,
                                         const std::vector<content::Change>& changes) {
  std::vector<std::string> packages;
  for (const content::Change& change : changes) packages.push_back(PackageOfFile(change.path));
  if (before.table->resolver() != after.table->resolver()) {
    for (std::string& package : after.table->DifferentFrom(*before.table))
      packages.push_back(std::move(package));
  }
  SortUnique(packages);
  return packages;
}

// OfFilesAndRules, and the packages that refer to what is gone. Appends all of these as changes of
// their sources, so that FindImpact finds who reads their outputs, or refers to what is gone.
std::vector<std::string> ChangedByThemselves(const World& before, const World& after,
                                             std::vector<content::Change>& changes,
                                             const ReferringPackages& referring) {
  std::vector<std::string> packages = OfFilesAndRules(before, after, changes);
  std::vector<std::string> gone;
  for (const std::string& package : packages) {
    const bool is_gone = !IsGone(before, package) && IsGone(after, package);
    changes.push_back({.path = package, .was_there = true, .is_there = !is_gone});
    if (is_gone) gone.push_back(package);
  }
  if (gone.empty()) return packages;
  for (std::string& package : referring(gone)) {
    changes.push_back({.path = package, .was_there = true, .is_there = true});
    packages.push_back(std::move(package));
  }
  return packages;
}

}  // namespace

WorldDifference DifferenceOf(const World& before, const World& after, Journal& journal,
                             const ReferringPackages& referring, size_t difference_max) {
  if (&before == &after) return {};
  if (!IsSameGround(before, after)) return {.is_all = true};
  WorldDifference difference;
  std::vector<content::Change> changes;
  if (before.snapshot != after.snapshot) {
    changes = content::DiffSnapshots(*before.snapshot, *after.snapshot, &difference.files);
    std::erase_if(changes, [&](const auto& one) { return IsUnread(one, before, after); });
  }
  if (changes.size() > difference_max) return {.is_all = true};
  for (const content::Change& change : changes) difference.files.push_back(change.path);
  SortUnique(difference.files);
  difference.packages = ChangedByThemselves(before, after, changes, referring);
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
