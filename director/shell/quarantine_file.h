// QuarantineFile: the workers that get no more jobs of a project, whoever is its director, until
// the quarantine is lifted: <state>/quarantine.
//
//   SealedText "galley-quarantine 1"; for each worker the keys `worker`, `machine`, `why` and
//   `since_us` (since 1970), in this order
//
// A worker that a launcher named (`slurm-3`) is quarantined only on its machine, since such names
// repeat; a worker that came by itself is quarantined wherever it runs. The file is read at each
// question, so that a running director notices `galley readmit`. A damaged file counts as empty,
// and the log says so.
// Threads: any; several processes: of two writers at the same time the last one wins.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::director {

struct QuarantinedWorker {
  std::string worker, machine, why;
  absl::Time since;
  bool operator==(const QuarantinedWorker&) const = default;
};

class QuarantineFile {
 public:
  explicit QuarantineFile(const std::string& state_directory);

  // In the order of their quarantine. An error: the file exists, and cannot be read now.
  absl::StatusOr<std::vector<QuarantinedWorker>> All() const;
  // Empty: the worker is not quarantined. `is_launched`: a launcher gave the name. Errors as All.
  absl::StatusOr<std::string> WhyOf(std::string_view worker, std::string_view machine,
                                    bool is_launched) const;
  // Replaces what was known of the same worker on that machine. If the entry cannot be written, it
  // still counts for as long as this object lives.
  absl::Status Add(const QuarantinedWorker& one);
  // Adds an entry for as long as this object lives; for a director that may no longer write.
  void AddHere(const QuarantinedWorker& one);
  // `worker`: a name, or name@machine. Returns the workers whose quarantine ended; NOT_FOUND: no
  // worker of that name was quarantined.
  absl::StatusOr<std::vector<QuarantinedWorker>> Remove(std::string_view worker);

 private:
  absl::StatusOr<std::vector<QuarantinedWorker>> Read() const;
  absl::Status Write(const std::vector<QuarantinedWorker>& all) const;

  const std::string path_;
  mutable base::Mutex mutex_;
  std::vector<QuarantinedWorker> unwritten_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
