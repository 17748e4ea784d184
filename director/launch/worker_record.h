// WorkerRecord: what a director writes down of each worker that it started, in a file of its own
// (mode 0600), so that the next director finds those that outlived it: docs/operating.md.
//
// The file <folder>/<worker id> is sealed text (common/base/sealed_text.h) with four keys: "pid",
// "started" (<clock ticks since boot>@<boot>: field 22 of /proc/<pid>/stat, and the boot's id,
// which tell a process from a later one of its number), "address" ("unix:/..."), "token". One that
// cannot be read is of nobody, and noted (healed.h).
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
  std::string director_address;  // where it looks for its director
  std::string token;
};

// When the process began; empty: there is none, or it has ended.
std::string StartOf(pid_t pid);

// Fills in when the process began.
absl::Status WriteWorkerRecord(const std::string& folder, WorkerRecord record);
void RemoveWorkerRecord(const std::string& folder, const std::string& worker_id);
// Those whose process lives, sorted by id. The records of others are removed.
std::vector<WorkerRecord> FindSurvivors(const std::string& folder);

}  // namespace galley::director
