// Inheritance: what a dead director leaves to the next director: workers that still live, the jobs
// of these workers, and the packages that its cook blamed.
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
  JournalProgress progress;  // of survivors only; empty: the last cook came to its end
};

// Returns the workers that live, and removes the folders in which dead workers ran their jobs.
// REQUIRES: the project is held, so that no other director starts workers.
std::vector<WorkerRecord> FindInheritedWorkers(const std::string& state_directory);

// Ends the workers that nobody took over, and the processes that they run. A cook that finds that
// all stands needs no worker, and the workers would wait for a director for a while.
void EndInheritedWorkers(const std::string& state_directory,
                         std::span<const WorkerRecord> survivors);

// Called once for each director, after its first difference: returns what the last director left
// that concerns living workers. Nobody has the attempts of dead workers, and the journal forgets
// these attempts.
absl::StatusOr<Inheritance> TakeOver(std::vector<WorkerRecord> survivors, uint32_t term,
                                     Journal& journal);

}  // namespace galley::director
