// Accepting: a result is what a package comes to.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Accepting : Part {
 public:
  explicit Accepting(Core& core) : Part(core) {}

  struct Source {
    PackageId package;
    PlatformIndex platform = 0;
    WorkerId worker;  // that made it
    ReportId report = 0;
    AttemptId attempt = 0;
  };
  // The result is committed, and acknowledged then. `source.attempt`: the one that has just
  // reported it, or that agrees with it; 0: none.
  void Accept(const Source& source, const WorkerReport::Saved& saved);
};

}  // namespace galley::director
