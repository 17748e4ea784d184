// LostBlobRepair: the bytes that the store lost under a cook are looked for in the whole, wherever
// the loss was met (staging, a worker), and made again once for each package; all roots are built,
// published and staged again.
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
  // True: roots that are built may be published now, if nobody looks for what is lost.
  bool OnLostFound(const LostFound& event);
  // Staging lacks something: what and where.
  void OnUnstaged(const std::string& loss);
  // One at a time.
  void SendLookForLost();
  // Roots are built anew, also when no package lost anything: their folders may be lost.
  void MakeAgain(const std::vector<RootBuilt::Lost>& lost);
  // Somebody interrupts the cook since its roots are being published.
  void Interrupt() { is_interrupted_ = true; }
  bool is_interrupted() const { return is_interrupted_; }
  bool is_looking() const { return is_looking_; }  // LookForLost is not answered

 private:
  bool LeaveUnstaged();
  bool IsWanted(PackageId package, PlatformIndex platform) const;
  bool IsStillNamed(const RootBuilt::Lost& lost) const;

  PackageProgress& package_progress_;
  CookOnlyFailures& cook_only_failures_;
  Claims& claims_;
  Claimant& cook_;
  bool is_interrupted_ = false;  // told when staging lacks something
  uint32_t fruitless_ = 0;       // rounds before which no package was found to have lost a thing
  absl::btree_map<PackageId, uint32_t> made_again_;  // how often
  bool is_looking_ = false;
  uint64_t look_ = 0;           // the last LookForLost
  bool is_seen_again_ = false;  // since LookForLost was sent
  std::string from_staging_;    // what the last StageRoots lacked; empty: nothing
};

}  // namespace galley::director
