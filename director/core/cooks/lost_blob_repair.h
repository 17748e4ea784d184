// LostBlobRepair: looks for all bytes that the store lost under a cook, wherever the loss was met
// (staging, a worker), and has them made again, once for each package; then all roots are built,
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
  // True: built roots may be published now, if no look for lost bytes is open.
  bool OnLostFound(const LostFound& event);
  // Staging lacks something: `loss` says what and where.
  void OnUnstaged(const std::string& loss);
  // Sends LookForLost. While a LookForLost is open, notes the loss for a further look instead.
  void SendLookForLost();
  // Builds the roots anew, also when no package lost anything: the roots' folders may be lost.
  void MakeAgain(const std::vector<RootBuilt::Lost>& lost);
  // Somebody interrupts the cook while its roots are being published.
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
  bool is_interrupted_ = false;                      // reported when staging lacks something
  uint32_t fruitless_ = 0;                           // looks for staging that found nothing lost
  absl::btree_map<PackageId, uint32_t> made_again_;  // how often each was made again
  bool is_looking_ = false;
  uint64_t look_ = 0;           // the last LookForLost
  bool is_seen_again_ = false;  // a loss was seen since LookForLost was sent
  std::string from_staging_;    // the loss of the last StageRoots; empty: none
};

}  // namespace galley::director
