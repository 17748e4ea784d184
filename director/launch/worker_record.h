// WorkerRecord: a director's record of a worker that it started, in a file of mode 0600. With the
// records the next director finds the workers that outlived their director: docs/operating.md.
//
// The file <folder>/<worker id> is sealed text (common/base/sealed_text.h) with four keys:
//
//   pid
//   started   "<clock ticks since boot>@<boot id>"; the ticks are field 22 of /proc/<pid>/stat.
//             Tells the process from a later process with the same pid.
//   address   "unix:/..."
//   token
//
// An unreadable record counts as no record, and is noted (repairs.h).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace galley::director {

struct WorkerRecord {
  std::string worker_id;
  pid_t pid = 0;
  std::string started;
  std::string director_address;  // the address at which the worker attaches
  std::string token;
};

// Returns when the process began; empty: there is no such process, or it has ended.
std::string StartOf(pid_t pid);

// Writes the record; sets `started` from the process.
absl::Status WriteWorkerRecord(const std::string& folder, WorkerRecord record);
void RemoveWorkerRecord(const std::string& folder, const std::string& worker_id);
// Returns the records of living processes, sorted by id. Removes other records.
std::vector<WorkerRecord> FindSurvivors(const std::string& folder);

}  // namespace galley::director
