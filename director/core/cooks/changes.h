// Changes: files and platforms change under a cook, and outcomes are forgotten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/cooks/cook_table.h"
#include "director/core/cooks/exploring.h"
#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/platforms.h"
#include "director/core/workers/held_results.h"

namespace galley::director {

class Changes : PackagePart {
 public:
  Changes(const PackageGround& ground, Attempts& attempts, Advancing& advancing,
          PendingCommits& commits, Claims& claims, HeldResults& held_results, CookTable& cooks,
          Exploring& exploring)
      : PackagePart(ground),
        attempts_(attempts),
        advancing_(advancing),
        commits_(commits),
        claims_(claims),
        held_results_(held_results),
        cooks_(cooks),
        exploring_(exploring) {}

  void OnFilesChanged(const FilesChanged& event);
  void OnPackagesCleared(const PackagesCleared& event);
  void OnPlatformsChanged(const PlatformsChanged& event);

  // Changes that came while roots were built belong to the roots that are built after them. Nothing
  // is taken while some cook still builds.
  void TakeLate();
  void OnRoundBegan(const RoundBegan&) { TakeLate(); }

 private:
  void ForgiveLate(const FilesChanged& event);
  void ForgiveWaiting(const FilesChanged& event);
  void Release();
  void TakeChange(const FilesChanged& event);
  void RenameAll(const std::vector<FilesChanged::Renamed>& all, absl::btree_set<PackageId>& done);
  void RemapPackage(PackageId package, const PlatformMap& map, PlatformMask added);
  void GoOnWithPlatforms(PackageId package, PlatformMask added);

  Attempts& attempts_;
  Advancing& advancing_;
  PendingCommits& commits_;
  Claims& claims_;
  HeldResults& held_results_;
  CookTable& cooks_;
  Exploring& exploring_;
};

}  // namespace galley::director
