// Dispatching: jobs are handed over to workers, the most urgent first, but for the share of lower
// classes (shares.h).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/attempt.h"
#include "director/core/part.h"

namespace galley::director {

class Dispatching : Part {
 public:
  explicit Dispatching(Core& core) : Part(core) {}

  // All that may be handed over now.
  void HandOverAll();
  bool HasLoadWork() const;
  void HandOver(PackageId package, const Placement& at);
  // Returns the platforms that are to be cooked, of these.
  PlatformMask PutInHand(PackageId package, PlatformMask of = ~PlatformMask{0});
  void SetHandedOver(PackageId package, AttemptId attempt);
  // REQUIRES: the attempt's package, worker, group and expected time are known.
  void Hold(AttemptId id, const Attempt& attempt);
  AttemptId Give(PackageId package, const Placement& at, PlatformMask platforms,
                 absl::Duration expected);
  // The cost of the platforms that are to be cooked; one of which nothing is known is taken for the
  // mean of the others.
  absl::Duration CostOf(PackageId package) const;
  // The last cook's peak, or what this cook measured of its kind; not more than it may take.
  uint64_t MemoryOf(PackageId package) const;
  // What it asks for is free, and is not reserved for another.
  bool HasResources(PackageId package) const;

 private:
  // A job of a lower class has its turn, as if it were that urgent.
  struct Lent {
    PackageId package;
    Urgency urgency = Urgency::kLow;
  };

  PackageId NextJob();
  PackageId NextInTurn();
  PackageId FirstStalled(Urgency urgency) const;
  PackageId FirstAtMost(Urgency urgency) const;
  Urgency UrgencyOf(PackageId package) const;
  void Account(PackageId package, absl::Duration expected);
  bool HasBlockingJob() const;
  void Overtake();

  Lent lent_;
};

}  // namespace galley::director
