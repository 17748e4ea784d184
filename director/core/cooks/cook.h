// Cook: one CookRequested, from its turn until it is published, staged or given up.
//
// A Cook decides how its request goes on. The cook's state is in its Claimant, which all parts may
// read; the state of its packages is in Graph.
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
  // True: nothing of the cook is left to do before its roots are built.
  bool IsQuiet() const;
  // Takes further selected packages of the request, within the units. Returns the units of work.
  size_t SelectSome(size_t units_max);

  void OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  void OnLossSeen(const LossSeen& event);
  void OnLostFound(const LostFound& event);

  // Platforms have new numbers; the request also asks for `added`. A manifest keeps the old
  // numbers.
  void Remap(const PlatformMap& map, PlatformMask added);

  // Stops the cook: nothing new begins, jobs that no other cook wants are cancelled, and open
  // commits are awaited. A cook whose roots are being published goes on, and stops only if staging
  // lacks bytes or the cook is opened again.
  void Interrupt();
  // Gives up the packages that no active cook wants. REQUIRES: the cook was stopped.
  void GiveUp();
  // Runs at the end of a step: judges a cook that is quiet, and builds its roots; ends a stopped
  // cook. False: the cook was stopped just now; call GiveUp, then GoOn again.
  bool GoOn();
  void End(const std::string& infrastructure_error);
  // CHECKs that the tally is the sum over the packages.
  void CheckTally() const;

 private:
  // The cook looks at `whole`, all packages that it selects, instead of a difference.
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
  const uint32_t begun_epoch_;  // StepContext::epoch when the cook began
};

}  // namespace galley::director
