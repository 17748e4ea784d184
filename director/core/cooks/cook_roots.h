// CookRoots: builds the roots of a cook whose packages are done, publishes them together, and has
// them staged.
//
// A cook is *settled* once its roots are being built. Its roots are those of its manifest
// (CookManifest): later changes do not reach the cook, unless it is opened again.
#pragma once

#include "absl/container/btree_map.h"
#include "director/core/cooks/lost_blob_repair.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/packages/package_part.h"
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

  // Builds a root for each platform. REQUIRES: the cook has a manifest.
  void Build();
  // True: the cook must look at more packages: event.whole.
  bool OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  // Publishes all built roots together, unless a look for lost bytes is open.
  void PublishIfBuilt();

 private:
  void SendRoot(PlatformIndex platform);
  void StageOrEnd();

  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
  Claimant& cook_;
  LostBlobRepair& lost_blob_repair_;
  PlatformMask unpublished_ = 0;                  // in the manifest's set of platforms
  absl::btree_map<PlatformIndex, Digest> built_;  // published together when all are built
};

}  // namespace galley::director
