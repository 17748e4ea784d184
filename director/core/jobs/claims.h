// Claims: which cooks want a package, and why.
//
// A claim is handed on along references, to the packages that a package generates, and to the
// packages that it needs. Results that stand are told to a cook that comes later. A failed package
// is tried again for a later cook, while the earlier cooks keep the failure.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/btree_set.h"
#include "director/core/catalog.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class Claims : PackagePart {
 public:
  struct Deps {
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

  // Adds a reason: a referencer, or none for a root cause. The package is wanted in those cooks
  // among `cooks` which packages can still join.
  void Join(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // Join for a reason that is in `edges` already.
  void Bring(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // Hands the package's claims on. Returns the units of work.
  size_t Spread(PackageId package);
  // Lets the claims of a cook that is over go, as far as the units reach: the cook's members get
  // fewer. The knowledge of packages that no cook wants any more goes with the claims. Returns the
  // units of work.
  size_t LetGo(Claimant& cook, size_t units_max);
  // The packages that `generator` generated leave. A package that a cook asked for itself fails in
  // that cook, and is not lost in silence.
  void LeaveOrphans(PackageId generator, std::string_view reason);
  // The package leaves all cooks, with all packages that it generated.
  void Leave(PackageId package, std::string_view reason);
  // The package leaves these cooks, and goes on in others.
  void Unclaim(PackageId package, CookMask cooks);
  // The cooks that heard of the package hear that the package left. A cook whose roots are being
  // built or published keeps its judgements.
  void TellLeft(PackageId package, CookMask cooks);
  // The package is not attempted, since its generator failed.
  void Skip(PackageId package);
  // The package leaves these cooks, in which nothing leads to the package.
  void LeaveCook(PackageId package, CookMask cooks);
  // The package begins again: its results no longer hold.
  void Requeue(PackageId package);
  // Requeue for the package and all packages whose cooks read its output, or wait for its list, or
  // for its file to come.
  void RequeueWithReaders(PackageId package, absl::btree_set<PackageId>& done);
  // RequeueWithReaders for a package whose bytes may be lost. The packages that it generates wait
  // until it lists them again: the bytes of their sources may be what is gone, and no machine could
  // work on them.
  void MakeAgain(PackageId package, absl::btree_set<PackageId>& done);

 private:
  void Claim(PackageId package, CookMask cooks, Urgency urgency);
  void TryAgain(PackageId package, PlatformMask failed, CookMask before);
  void LowerUrgency(PackageId package);
  void Forget(PackageId package);
  void Withdraw(PackageId package);

  const Deps deps_;
};

}  // namespace galley::director
