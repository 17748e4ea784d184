// Balancing: work is moved from the busiest worker to one that has nothing to do.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Balancing : Part {
 public:
  explicit Balancing(Core& core) : Part(core) {}

  void Balance();
  // A package in hand became High, or more: its job is taken back from a worker's queue, and goes
  // before what waits there and is less urgent.
  void TakeForward(PackageId package);

 private:
  bool RetractFor(WorkerId idle, WorkerId busy);
  bool IsBetterOffAt(AttemptId attempt, WorkerId idle) const;
};

}  // namespace galley::director
