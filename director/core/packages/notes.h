// Notes: messages of a part of the core to the parts above it.
//
// A part calls only the parts that it was given, which lie below it. Where a part above must act,
// the part leaves a note. When the part has returned, Core hands all notes on before the next
// event, kind by kind in the order of the fields, until no note is left.
// Threads: none; owned by its layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "director/core/effects.h"
#include "director/core/ids.h"

namespace galley::director {

// The attempt ended, for any reason.
struct AttemptEnded {
  WorkerId worker;
  AttemptId attempt = 0;
};

// Bytes may be lost that results in these settled cooks name.
struct LossSuspected {
  CookMask cooks = 0;
};

// The package became High or more urgent, and its job may wait in a worker's queue.
struct UrgencyRaised {
  PackageId package;
};

// For asks: the package is done on these platforms, or has failed there.
struct AskSettled {
  PackageId package;
  PlatformMask platforms = 0;
  std::optional<PackageFailed> failed = std::nullopt;  // nullopt: done
};

// For asks: somebody else wants the package, but not on all platforms on which it is asked for
// ahead of need.
struct AheadDisplaced {
  PackageId package;
};

// The package must be cooked, and is in a queue of jobs to be handed over. Only with a fleet.
struct PackageReady {
  PackageId package;
};

// None of the running cooks can go on.
struct CooksFailed {
  std::string infrastructure_error;
};

struct Notes {
  bool empty() const {
    return attempts_ended.empty() && losses_suspected.empty() && urgencies_raised.empty() &&
           packages_ready.empty() && asks_settled.empty() && ahead_displaced.empty() &&
           cooks_failed.empty();
  }

  std::vector<AttemptEnded> attempts_ended;
  std::vector<LossSuspected> losses_suspected;
  std::vector<UrgencyRaised> urgencies_raised;
  std::vector<PackageReady> packages_ready;
  std::vector<AskSettled> asks_settled;
  std::vector<AheadDisplaced> ahead_displaced;
  std::vector<CooksFailed> cooks_failed;
};

}  // namespace galley::director
