// Notes: what a part of the core tells the parts above it.
//
// A part calls only the parts that it was given, which lie below it. A part leaves a note where
// parts above it must act. When the part has returned, Core hands the notes on, kind by kind in the
// order of the fields, before the next event, and goes on while there are any notes.
// Threads: none; owned by Core.
#pragma once

#include <string>
#include <vector>

#include "director/core/ids.h"

namespace galley::director {

// The attempt ended, whatever became of it.
struct AttemptEnded {
  WorkerId worker;
  AttemptId attempt = 0;
};

// None of the running cooks can go on.
struct CooksFailed {
  std::string infrastructure_error;
};

// The package became urgent, and may be in the queue of a worker.
struct UrgencyRaised {
  PackageId package;
};

// The package was found to be cooked, and is in the queue of jobs to be handed over.
struct PackageReady {
  PackageId package;
};

// The roots of a cook are built anew: changes that waited for the old roots may be taken.
struct RoundBegan {};

struct Notes {
  bool empty() const {
    return attempts_ended.empty() && cooks_failed.empty() && urgencies_raised.empty() &&
           packages_ready.empty() && rounds_begun.empty();
  }

  std::vector<AttemptEnded> attempts_ended;
  std::vector<CooksFailed> cooks_failed;
  std::vector<UrgencyRaised> urgencies_raised;
  std::vector<PackageReady> packages_ready;
  std::vector<RoundBegan> rounds_begun;
};

}  // namespace galley::director
