// HandingBack: jobs that a worker has in hand go to others.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class HandingBack : Part {
 public:
  explicit HandingBack(Core& core) : Part(core) {}

  // What waits at the worker goes to others. (What has begun may well succeed.)
  void TakeBackWaiting(WorkerId worker);
  // All that it has in hand goes to others, who are not told why. REQUIRES: it was lost just now.
  void GiveBack(WorkerId worker);
};

}  // namespace galley::director
