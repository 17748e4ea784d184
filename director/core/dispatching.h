// Dispatching: a step hands over all jobs that may be handed over now.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Dispatching : Part {
 public:
  explicit Dispatching(Core& core) : Part(core) {}

  void HandOverAll();

 private:
  void Overtake();
};

}  // namespace galley::director
