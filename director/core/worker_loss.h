// WorkerLoss: a worker is lost, or is to go: what it has in hand goes to others.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class WorkerLoss : Part {
 public:
  explicit WorkerLoss(Core& core) : Part(core) {}

  // It is lost. What it had in hand is the caller's to end. `is_in_order`: it said goodbye.
  void Lose(WorkerId worker, bool is_in_order = false);
  // It broke the protocol: all that it has in hand goes to others, and it counts as lost.
  void LoseViolator(WorkerId worker);
  // It gets no more jobs, finishes what has begun there, and ends. REQUIRES: attached.
  void Drain(WorkerId worker);
  // It gets no more jobs, all that it has in hand goes to others, and it ends.
  void Dismiss(WorkerId worker);
};

}  // namespace galley::director
