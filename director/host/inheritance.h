// Inheritance: what a director that died leaves to the next one: workers that still live, the jobs
// that they were given, and the packages that its cook blamed.
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

// The workers that live; the folders in which those that died had their jobs run are removed.
// REQUIRES: the project is held, so that no other director starts workers.
std::vector<WorkerRecord> FindInheritedWorkers(const std::string& state_directory);

// Ends those that nobody took over, and what they run. A cook that finds that all stands needs no
// worker, and they would wait for a director for a while.
void EndInheritedWorkers(const std::string& state_directory,
                         std::span<const WorkerRecord> survivors);

// Once for each director, after its first difference: what the last one left, of the workers that
// live. The attempts of the others are in nobody's hands, and the journal forgets them.
absl::StatusOr<Inheritance> TakeOver(std::vector<WorkerRecord> survivors, uint32_t term,
                                     Journal& journal);

}  // namespace galley::director
