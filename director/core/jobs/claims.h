// Claims: which cooks want a package, and why. Packages join cooks, leave them, and begin again
// here.
//
// A claim spreads along references, to generated packages, and to cooked inputs. It never reaches a
// package that its cook leaves out (CookFilter): such a package fails if the cook names it, and
// otherwise is no part of the cook, whatever other cooks do with it. A cook that comes
// later is told of results that stand. A failed package is tried again for a later cook, while the
// earlier cooks keep the failure.
//
// A package whose inputs change begins again for the active cooks. When no active cook wants the
// package, it only becomes outdated (PackageInCook::is_outdated), and begins again for the next
// cook that wants it, or that is opened again. Settled cooks are told of nothing: they have their
// manifests. A settled cook that is opened again is told how its packages differ from its manifest.
//
// A package is made ahead of need only on platforms that others want as well, or while nobody else
// wants it: otherwise the others would wait until the package is looked up and loaded for platforms
// that are not theirs. When others come, the note AheadDisplaced tells the asks, and a job that
// only asks ahead of need want is ended at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "director/core/catalog.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class Claims : PackagePart {
 public:
  struct Deps {
    KeptFailures& kept_failures;
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    Urgencies& urgencies;
    Waits& waits;
    PackageProgress& package_progress;
    CookOnlyFailures& cook_only_failures;
    Warnings& warnings;
  };
  Claims(const PackageGround& ground, const Deps& deps) : PackagePart(ground), deps_(deps) {}

  std::string NameAsked(std::string_view name_or_file) const;

  // Adds a reason; no referencer: a root cause. The package joins the active cooks among `cooks`.
  void Join(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // Join for a reason that is in `edges` already.
  void Bring(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // Somebody asks for the package on these platforms (cooks/asks.h), or does so ahead of need.
  // False: the package was asked for on all of them before, and has not failed.
  bool Ask(PackageId package, PlatformMask platforms, bool is_ahead);
  // Asked: the platforms on which a package is asked for, and those among them on which somebody
  // waits for it.
  struct Asked {
    PlatformMask all = 0, now = 0;
  };
  // From now on the package is asked for on those of its platforms only that are in `left`. What
  // has not begun, and nobody else wants, is taken back.
  void Unask(PackageId package, const Asked& left);
  // Lowers the urgencies of the packages that are in cooks, and of what they wait for, to what
  // those who want them give them. O(these packages and their followers).
  void LowerUrgencies(const std::vector<PackageId>& packages);
  // Spreads the package's claims. Returns the units of work.
  size_t Spread(PackageId package);
  // Releases claims of a cook that is over, within the units, and removes their packages from
  // `members`. Forgets packages that no cook wants any more. Returns the units of work.
  size_t ReleaseClaims(Claimant& cook, size_t units_max);
  // The packages that `generator` generated leave their cooks. A package that some cook selected
  // begins again there instead, and fails if it is not found.
  void LeaveOrphans(PackageId generator, std::string_view reason);
  // The package leaves all cooks, with all packages that it generated.
  void Leave(PackageId package, std::string_view reason);
  // The package leaves these cooks, and stays in others.
  void Unclaim(PackageId package, CookMask cooks);
  // Tells PackageLeft to these cooks if notices about the package were sent, but not to settled
  // cooks.
  void TellLeft(PackageId package, CookMask cooks);
  // The package is not attempted, since its generator failed.
  void Skip(PackageId package);
  // The package leaves these cooks, since nothing in them leads to it.
  void LeaveCook(PackageId package, CookMask cooks);
  // The package's results no longer hold: it begins again, or becomes outdated.
  void Requeue(PackageId package);
  // True: the package is asked for, and its generator has begun again and has not listed anything
  // since, so that the source that it listed for the package may be of earlier content. A cook can
  // go on with such a source, because the cook hears of the list before the cook ends.
  bool IsListOutdated(PackageId package) const;
  // Requeue for all packages of Graph::ForEachWithReaders.
  void RequeueWithReaders(PackageId package, absl::btree_set<PackageId>& done);
  // RequeueWithReaders for a package whose bytes may be lost. The packages that it generates wait
  // until it lists them again, since the bytes of their sources may be lost, too. Settled cooks
  // that hold results of the package look for lost bytes (the note LossSuspected).
  void MakeAgain(PackageId package, absl::btree_set<PackageId>& done);
  // Opens a settled cook again, for the packages as they are now; does nothing to an active cook.
  void OpenAgain(Claimant& cook) {
    claimants_.OpenAgain(cook);
    TakeUpAgain(cook);
  }
  // The second half of OpenAgain. REQUIRES: the cook is not settled.
  void TakeUpAgain(Claimant& cook);

 private:
  void Claim(PackageId package, CookMask cooks, const Asked& asked, Urgency urgency);
  void Lift(PackageId package, PlatformMask now, Urgency urgency);
  void DisplaceAhead(PackageId package, CookMask joining);
  Urgency UrgencyFor(PackageId package, CookMask cooks, InstigatorCategory category) const;
  void TellAsksLeft(PackageId package, std::string_view reason);
  bool IsKept(PackageId package, PlatformMask failed, CookMask cooks);
  void KeepOut(PackageId package, InstigatorCategory category, PackageId referencer,
               CookMask cooks);
  bool LacksVariants(PackageId package, CookMask cooks, CookMask before);
  void BeginAgain(PackageId package);
  void TakeMissedRenames(Claimant& cook);
  void JoinSelected(const Claimant& cook);
  void TakeUpMember(Claimant& cook, const CookManifest& judged, uint32_t number);
  void TellChanges(const Claimant& cook, const CookManifest& judged, uint32_t number);
  void BeginUnsettled(const Claimant& cook, PackageId package, bool was_skipped);
  void TryAgain(PackageId package, PlatformMask failed, CookMask before);
  void LowerUrgency(PackageId package);
  void Forget(PackageId package);
  void Withdraw(PackageId package);

  const Deps deps_;
};

}  // namespace galley::director
