// Waits: which packages wait for the results of others, or for the lists of their generators.
//
// A wait is on the waiting package (Work::waits) and on the awaited package (Work::waiters).
// Threads: none; owned by its layer.
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
  // Notes that the package reads the output of the input, whether there is any or not.
  void NoteInput(PackageId id, PackageId input);
  // A package `on` that has no Work yet gets its Work here, before its Begin, to keep the waiter.
  void AddWaiter(PackageId on, PackageId waiter);
  void WakeWaiters(PackageId package);
  // The platform does not wait for its look-up any more: the platform is cooked instead.
  void MissInstead(PackageId package, PlatformIndex platform);
  // The shortest way from the package back to itself along waits; empty when there is none.
  std::vector<PackageId> ShortestCycle(PackageId package, bool certain_only) const;

 private:
  void NextWaits(PackageId package, bool certain_only, std::vector<PackageId>& next) const;
};

}  // namespace galley::director
