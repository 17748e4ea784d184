// ProjectChanges: applies changes of files and platforms, and cleared packages, to the running
// cooks, except for settled ones. Packages that only settled or ending cooks want become outdated
// (Claims).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/cooks/cook_table.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/platforms.h"
#include "director/core/workers/held_results.h"

namespace galley::director {

class ProjectChanges : PackagePart {
 public:
  struct Deps {
    Attempts& attempts;
    PackageProgress& package_progress;
    PendingCommits& commits;
    CookOnlyFailures& cook_only_failures;
    Claims& claims;
    HeldResults& held_results;
    CookTable& cooks;
  };
  ProjectChanges(const PackageGround& ground, const Deps& deps)
      : PackagePart(ground), deps_(deps) {}

  void OnFilesChanged(const FilesChanged& event);
  void OnPackagesCleared(const PackagesCleared& event);
  void OnPlatformsChanged(const PlatformsChanged& event);

 private:
  void ForgiveWaiting(const FilesChanged& event);
  void TakeChange(const FilesChanged& event);
  void Clear(PackageId package, absl::btree_set<PackageId>& done);
  void RenameAll(const std::vector<FilesChanged::Renamed>& all, absl::btree_set<PackageId>& done);
  void RemapPackage(PackageId package, const PlatformMap& map, PlatformMask added);
  void GoOnWithPlatforms(PackageId package, PlatformMask added);

  const Deps deps_;
};

}  // namespace galley::director
