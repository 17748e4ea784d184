// LostBlobRepair: when a cook meets bytes that the store lost, finds all lost bytes of the cook's
// results, and has their packages cooked again. Then all roots are built, published and staged
// again. CookOptions::lost_rounds_max and lost_rounds_in_all_max limit this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class LostBlobRepair : PackagePart {
 public:
  LostBlobRepair(const PackageGround& ground, PackageProgress& package_progress,
                 CookOnlyFailures& cook_only_failures, Claims& claims, Claimant& cook)
      : PackagePart(ground),
        package_progress_(package_progress),
        cook_only_failures_(cook_only_failures),
        claims_(claims),
        cook_(cook) {}

  void OnLossSeen(const LossSeen& event);
  // True: nothing is lost, and built roots may be published.
  bool OnLostFound(const LostFound& event);
  // Staging lacks bytes. `loss`: the bytes and their place.
  void OnUnstaged(const std::string& loss);
  // Sends LookForLost or, while one is open, notes that another one is needed after it.
  void SendLookForLost();
  // Has the packages cooked and the roots built again. `lost` may be empty: then only the roots'
  // own folders are lost.
  void MakeAgain(const std::vector<RootBuilt::Lost>& lost);
  // The cook is interrupted while its roots are being published.
  void Interrupt() { is_interrupted_ = true; }
  bool is_interrupted() const { return is_interrupted_; }
  bool is_looking() const { return is_looking_; }  // LookForLost is not answered

 private:
  void AddResults(LookForLost& look) const;
  bool LeaveUnstaged();
  bool IsWanted(PackageId package, PlatformIndex platform) const;
  bool IsStillNamed(const RootBuilt::Lost& lost) const;

  PackageProgress& package_progress_;
  CookOnlyFailures& cook_only_failures_;
  Claims& claims_;
  Claimant& cook_;
  bool is_interrupted_ = false;                      // takes effect when staging lacks bytes
  uint32_t fruitless_ = 0;                           // looks after staging that found no loss
  absl::btree_map<PackageId, uint32_t> made_again_;  // how often
  bool is_looking_ = false;
  uint64_t look_ = 0;           // the last LookForLost
  bool is_seen_again_ = false;  // another look is needed
  std::string from_staging_;    // the loss of the last StageRoots; empty: none
};

}  // namespace galley::director
