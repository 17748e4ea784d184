// Inheritance: the state that a dead director leaves to the next director: living workers, their
// jobs, and the packages that its cook blamed.
//
// Threads: none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/journal/journal.h"
#include "director/launch/worker_record.h"

namespace galley::director {

struct Inheritance {
  std::vector<WorkerRecord> survivors;
  // Has only attempts of survivors. Empty: the last cook came to its end.
  JournalProgress progress;
};

// Returns the living workers, and removes the scratch folders of dead workers. REQUIRES: the
// project is held, so that no other director starts workers.
std::vector<WorkerRecord> FindInheritedWorkers(const std::string& state_directory);

// Kills the workers that nobody took over, and their descendants. A cook that is answered from a
// standing needs no worker, and the workers would wait for a director for a while.
void EndInheritedWorkers(const std::string& state_directory,
                         std::span<const WorkerRecord> survivors);

// Returns the inheritance of a new director, and makes the journal forget the attempts of dead
// workers. Called once for each director, after its first ApplyDifference.
absl::StatusOr<Inheritance> TakeOver(std::vector<WorkerRecord> survivors, uint32_t term,
                                     Journal& journal);

}  // namespace galley::director
