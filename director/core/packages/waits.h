// Waits: which packages wait for results of other packages, or for the lists of their generators.
//
// A wait is stored at the waiting package (Work::waits) and at the awaited one (Work::waiters).
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
  // `cooks`: those of the reader. True: at least one of them can have the package in it.
  bool CanBeCookedInput(std::string_view name, CookMask cooks, std::string* error) const;
  // The error text for an input that has no result, in these cooks.
  std::string WhyNone(PackageId input, CookMask cooks) const;
  // Notes that the package reads the output of the input, if any (PackageInCook::cooked_inputs).
  void NoteInput(PackageId id, PackageId input);
  // If `on` is idle, it enters the works here, since Work keeps the waiters.
  void AddWaiter(PackageId on, PackageId waiter);
  void WakeWaiters(PackageId package);
  // Ends the waits of the platform's look-up as a miss: the platform is cooked.
  void MissInstead(PackageId package, PlatformIndex platform);
  // The shortest cycle of waits through the package; empty: none.
  std::vector<PackageId> ShortestCycle(PackageId package, bool certain_only) const;

 private:
  void NextWaits(PackageId package, bool certain_only, std::vector<PackageId>& next) const;
};

}  // namespace galley::director
