// Waits: which packages wait for the results of others, or for the lists of their generators.
//
// A wait is on the package that waits (Work::waits) and on the one that is waited for
// (Work::waiters).
// Threads: none; owned by Core.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "director/core/packages/package_part.h"

namespace galley::director {

class Waits : PackagePart {
 public:
  explicit Waits(const PackageGround& ground) : PackagePart(ground) {}

  enum class Availability { kPending, kReady, kNone };
  Availability AvailabilityOf(PackageId package, PlatformIndex platform) const;
  bool IsOver(PackageId package) const;
  bool CanBeCookedInput(std::string_view name, std::string* error) const;
  // Why the input has no result.
  std::string WhyNone(PackageId input) const;
  // The package reads what the input is cooked to, whether there is any or not.
  void NoteInput(PackageId id, PackageId input);
  // A package that has no work yet wakes nobody by itself: its Begin will make the work.
  void AddWaiter(PackageId on, PackageId waiter);
  void WakeWaiters(PackageId package);
  // The platform does not wait for the sake of its look-up any more: it is cooked instead.
  void MissInstead(PackageId package, PlatformIndex platform);
  // The shortest way from the package back to itself along waits; empty when there is none.
  std::vector<PackageId> ShortestCycle(PackageId package, bool certain_only) const;

 private:
  void NextWaits(PackageId package, bool certain_only, std::vector<PackageId>& next) const;
};

}  // namespace galley::director
