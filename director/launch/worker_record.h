// WorkerRecord: what a director writes down of each worker that it started, in a file of its own
// (mode 0600), so that the next director finds the workers that outlived it: docs/operating.md.
//
// The file <folder>/<worker id> is sealed text (common/base/sealed_text.h) with four keys: "pid",
// "started" (<clock ticks since boot>@<boot>: field 22 of /proc/<pid>/stat, and the boot's id,
// which tell a process from a later process with its number), "address" ("unix:/..."), "token". An
// unreadable record belongs to nobody, and is noted (healed.h).
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
  std::string director_address;  // where the worker looks for its director
  std::string token;
};

// Returns when the process began; empty: there is no such process, or it has ended.
std::string StartOf(pid_t pid);

// Writes the record, and fills in when the process began.
absl::Status WriteWorkerRecord(const std::string& folder, WorkerRecord record);
void RemoveWorkerRecord(const std::string& folder, const std::string& worker_id);
// Returns the records of living processes, sorted by id. Removes other records.
std::vector<WorkerRecord> FindSurvivors(const std::string& folder);

}  // namespace galley::director
