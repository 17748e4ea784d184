// CookRoots: the trees of a cook that is done are built, published together, and staged.
//
// A cook is *settling* from when its roots are being built: then later changes are not the cook's,
// until it is opened again.
#pragma once

#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/cooks/lost_blob_repair.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/platforms.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class CookRoots : PackagePart {
 public:
  CookRoots(const PackageGround& ground, CookOnlyFailures& cook_only_failures, Warnings& warnings,
            Claimant& cook, LostBlobRepair& lost_blob_repair)
      : PackagePart(ground),
        cook_only_failures_(cook_only_failures),
        warnings_(warnings),
        cook_(cook),
        lost_blob_repair_(lost_blob_repair) {}

  // All is judged: the roots are of these packages.
  void Build(const std::vector<PackageId>& by_name);
  // True: the cook looked at too little: it is to look at all of event.whole.
  bool OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  // All built ones are published together, unless somebody looks for what is lost.
  void PublishIfBuilt();
  // Platforms have new numbers. What is being published goes on by the old ones.
  void Remap(const PlatformMap& map);

 private:
  void SendRoot(PlatformIndex platform, const std::vector<PackageId>& by_name);
  void StageOrEnd();

  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
  Claimant& cook_;
  LostBlobRepair& lost_blob_repair_;
  PlatformMask unpublished_ = 0;                  // while publishing: of `publishing_set_`
  uint32_t publishing_set_ = 0;                   // of platforms
  absl::btree_map<PlatformIndex, Digest> built_;  // published together, when all are
};

}  // namespace galley::director
