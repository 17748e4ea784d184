// Suspects: packages that may be what kills their executors (killings.h) run one at a time on a
// machine.
// Threads: none; owned by Core.
#pragma once

#include "director/core/killings.h"
#include "director/core/part.h"

namespace galley::director {

class Suspects : Part {
 public:
  explicit Suspects(Core& core) : Part(core) {}

  // Another suspect is to run on the worker's machine, or runs there. O(suspects).
  bool IsKeptFrom(PackageId package, const Worker& worker) const;

 private:
  bool HoldsItsTurn(PackageId turn, PackageId package) const;
  bool IsInHandAt(PackageId package, Killings::Machine machine) const;
};

}  // namespace galley::director
