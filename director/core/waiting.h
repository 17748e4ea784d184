// Waiting: for cooked inputs and for generators; cycles of such waits; waking up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "director/core/part.h"

namespace galley::director {

class Waiting : Part {
 public:
  explicit Waiting(Core& core) : Part(core) {}

  enum class Availability { kPending, kReady, kNone };
  Availability AvailabilityOf(PackageId package, PlatformIndex platform) const;
  bool IsOver(PackageId package) const;
  bool CanBeCookedInput(std::string_view name, std::string* error) const;
  // Why the input has no result.
  std::string WhyNone(PackageId input) const;
  // The package reads what the input is cooked to, whether there is any or not.
  void NoteInput(PackageId id, PackageId input);
  // False: it closed a cycle, which was dealt with.
  bool AddWait(PackageId package, const Wait& wait);
  // A package that has no work yet wakes nobody by itself: its Begin will make the work.
  void AddWaiter(PackageId on, PackageId waiter);
  void LengthenChain(PackageId package, absl::Duration chain);
  // True: the package is on no cycle of waits. A cycle of certain waits fails all that are on it;
  // another is broken where a look-up waits.
  bool BreakCycles(PackageId package);
  void MissInstead(PackageId package, PlatformIndex platform);
  void WakeWaiters(PackageId package);
  void EvaluateWaits(PackageId package);
  void EvaluateGenerator(PackageId package);

 private:
  void WantAgain(PackageId on, PackageId waiter, CookMask cooks);
  // The shortest way from the package back to itself along waits; empty when there is none.
  std::vector<PackageId> ShortestCycle(PackageId package, bool certain_only) const;
  void NextWaits(PackageId package, bool certain_only, std::vector<PackageId>& next) const;
};

}  // namespace galley::director
