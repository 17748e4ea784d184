// Notes: what a part of the core tells the parts above it.
//
// A part calls only the parts that it was given, which lie below it. A part leaves a note where
// parts above it must act. When the part has returned, Core hands the notes on, kind by kind in the
// order of the fields, before the next event, and goes on while there are any notes.
// Threads: none; owned by its layer.
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

// The roots of a cook are built anew: changes that waited for the old roots may be taken.
struct RoundBegan {};

// The package became urgent, and may be in the queue of a worker.
struct UrgencyRaised {
  PackageId package;
};

// The package was found to need a cook, and is in the queue of jobs to be handed over.
struct PackageReady {
  PackageId package;
};

// None of the running cooks can go on.
struct CooksFailed {
  std::string infrastructure_error;
};

struct Notes {
  bool empty() const {
    return attempts_ended.empty() && rounds_begun.empty() && urgencies_raised.empty() &&
           packages_ready.empty() && cooks_failed.empty();
  }

  std::vector<AttemptEnded> attempts_ended;
  std::vector<RoundBegan> rounds_begun;
  std::vector<UrgencyRaised> urgencies_raised;
  std::vector<PackageReady> packages_ready;
  std::vector<CooksFailed> cooks_failed;
};

}  // namespace galley::director
