// Claims: what is in the cook, and why.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "director/core/part.h"

namespace galley::director {

class Claims : Part {
 public:
  explicit Claims(Core& core) : Part(core) {}

  std::string NameAsked(std::string_view name_or_file) const;
  PackageId FindOrAdd(std::string_view name);

  // A reason: a referencer, or none for a root cause.
  void Join(PackageId package, InstigatorCategory category, PackageId referencer);
  // The same for a reason that is in `edges` already.
  void Bring(PackageId package, InstigatorCategory category, PackageId referencer);
  // The packages that the package waits for become as urgent.
  void RaiseUrgency(PackageId package, Urgency urgency);
  void Begin(PackageId package);
  // Its generator is over and does not list the package.
  void Unlisted(PackageId package, PackageId generator);
  // The package leaves the cook, with all that it generated.
  void Leave(PackageId package, std::string_view reason);
  // The package begins again: its results no longer hold.
  void Requeue(PackageId package);
  // The same for all whose cooks read its output, or wait for its list.
  void RequeueWithReaders(PackageId package, absl::btree_set<PackageId>& done);
  // Visits the package, and all whose cooks read its output or wait for its list, but those in
  // `done`, which grows.
  void ForEachWithReaders(PackageId package, absl::btree_set<PackageId>& done,
                          absl::FunctionRef<void(PackageId)> visit);

 private:
  bool BeginGenerated(PackageId package);
  void Withdraw(PackageId package);
  void Skip(PackageId package);
};

}  // namespace galley::director
