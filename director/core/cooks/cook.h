// Cook: one request, from when its turn comes until the cook is published or given up.
//
// A Cook decides how its request goes on. The cook's state is in its Claimant, which all parts may
// read; the packages that the cook wants are in Graph.
// Threads: none; owned by CookTable.
#pragma once

#include <string>
#include <vector>

#include "director/core/cooks/cook_roots.h"
#include "director/core/cooks/cook_validation.h"
#include "director/core/cooks/lost_blob_repair.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/platforms.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

// CookParts: the parts of the core that a cook uses.
struct CookParts {
  ResumedAttempts& resumed_attempts;
  PendingCommits& commits;
  PackageProgress& package_progress;
  CookOnlyFailures& cook_only_failures;
  Warnings& warnings;
  Claims& claims;
  CookValidation& cook_validation;
};

class Cook : JobPart {
 public:
  Cook(const JobGround& ground, const CookParts& parts, Claimant& claimant);

  Claimant& claimant() const { return cook_; }
  // True: no work of the cook is under way.
  bool IsQuiet() const;
  // Takes the request's selected packages, as far as the units reach. Returns the units of work.
  size_t SelectSome(size_t units_max);

  void OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  void OnLossSeen(const LossSeen& event);
  void OnLostFound(const LostFound& event);

  // The request's platforms have new numbers, and `added` platforms are asked for as well.
  void Remap(const PlatformMap& map, PlatformMask added);

  // Somebody asks for the cook's end: nothing new begins; jobs in hand are cancelled; commits on
  // their way are waited for. Once the roots are being published, the cook goes on to its end.
  void Interrupt();
  // REQUIRES: the cook was stopped. Packages that no other cook wants are given up.
  void GiveUp();
  // At the end of a step: the cook settles when it is quiet, and ends when it is settled. False:
  // the cook was stopped just now: its jobs in hand are to be given up before the cook goes on.
  bool GoOn();
  void End(const std::string& infrastructure_error);
  // CHECKs that the tally is the sum over the packages.
  void CheckTally() const;

 private:
  // Looks at the packages that stood as well: `whole` is all that the cook selects.
  void Widen(std::vector<SelectedPackage> whole);
  void EndIfConcluded();
  void CountUnfinished();
  void LeaveUnreached();
  bool HasCommits() const;
  bool LacksCommitsOnly() const;
  bool IsNothingThere(const std::vector<PackageId>& by_name) const;

  ResumedAttempts& resumed_attempts_;
  PendingCommits& commits_;
  PackageProgress& package_progress_;
  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
  Claims& claims_;
  CookValidation& cook_validation_;
  Claimant& cook_;
  LostBlobRepair lost_blob_repair_;
  CookRoots roots_;
  bool is_empty_ = false;       // CookEnded::is_empty
  const uint32_t begun_epoch_;  // epoch of the catalog when the cook began
};

}  // namespace galley::director
