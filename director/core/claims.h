// Claims: which cooks want a package, and why.
//
// A claim is handed on along references, to what a package generates, and to what it needs.
// Results that stand are told to a cook that comes later; what failed is tried again for it, while
// the cooks before it keep the failure.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "director/core/catalog.h"
#include "director/core/part.h"

namespace galley::director {

class Claims : Part {
 public:
  explicit Claims(Core& core) : Part(core) {}

  std::string NameAsked(std::string_view name_or_file) const;
  PackageId FindOrAdd(std::string_view name);

  // A reason: a referencer, or none for a root cause. The package is wanted in those of `cooks`
  // which packages can still join.
  void Join(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // The same for a reason that is in `edges` already.
  void Bring(PackageId package, InstigatorCategory category, PackageId referencer, CookMask cooks);
  // Hands the package's claims on. Returns units.
  size_t Spread(PackageId package);
  // Only cooks that are over or ending want the package: it is attempted no longer.
  void GiveUp(PackageId package);
  // The claims of a cook that is over go, as far as the units reach: its members get fewer. What is
  // known of packages that no cook wants any more goes with them. Returns units.
  size_t LetGo(Cook& cook, size_t units_max);
  // The packages that the package waits for become as urgent.
  void RaiseUrgency(PackageId package, Urgency urgency);
  void Begin(PackageId package);
  // Its generator is over and does not list the package.
  void Unlisted(PackageId package, PackageId generator);
  // The package leaves all cooks, with all that it generated.
  void Leave(PackageId package, std::string_view reason);
  // The package leaves these cooks, which nothing leads to it from.
  void LeaveCook(PackageId package, CookMask cooks);
  // The package begins again: its results no longer hold.
  void Requeue(PackageId package);
  // The same for all whose cooks read its output, or wait for its list, or for its file to come.
  void RequeueWithReaders(PackageId package, absl::btree_set<PackageId>& done);
  // Visits the package, and all of whom that is true, but those in `done`, which grows.
  void ForEachWithReaders(PackageId package, absl::btree_set<PackageId>& done,
                          absl::FunctionRef<void(PackageId)> visit);

 private:
  void LeaveOrphans(PackageId generator, std::string_view reason);
  void Claim(PackageId package, CookMask cooks, Urgency urgency);
  void TryAgain(PackageId package, PlatformMask failed, CookMask before);
  void Unclaim(PackageId package, CookMask cooks);
  void TellLeft(PackageId package, CookMask cooks);
  void LowerUrgency(PackageId package);
  void Forget(PackageId package);
  CookMask NamersOf(PackageId package);
  bool MayCook(PackageId package, const CatalogEntry& entry);
  bool BeginGenerated(PackageId package);
  void WaitForGenerator(PackageId package, PackageId generator);
  void Withdraw(PackageId package);
  void Skip(PackageId package);
  void NoteNoGenerator(PackageId package);
  void ForgetNoGenerator(PackageId package);

  // Packages that failed since nothing has the name of their generator, by that name's package.
  absl::btree_map<PackageId, absl::btree_set<PackageId>> without_generator_;
};

}  // namespace galley::director
