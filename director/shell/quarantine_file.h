// QuarantineFile: the workers that get no more jobs of a project, from any director, until the
// quarantine is lifted: <state>/quarantine.
//
//   SealedText "galley-quarantine 1"; for each worker the keys `worker`, `machine`, `why` and
//   `since_us` (since 1970), in this order
//
// A worker with a launcher's name (`slurm-3`) is quarantined only on its machine, because launchers
// reuse names; any other worker is quarantined on every machine. The file is read for each call, so
// that a running director notices `galley readmit`. A damaged file counts as empty, and is logged.
// Threads: any. Several processes may write; the last write wins.
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

  // Returns the workers in the order of their quarantine. An error: the file exists, but cannot be
  // read now.
  absl::StatusOr<std::vector<QuarantinedWorker>> All() const;
  // Returns why the worker is quarantined; empty: it is not. `is_launched`: a launcher gave the
  // name. Errors as All.
  absl::StatusOr<std::string> WhyOf(std::string_view worker, std::string_view machine,
                                    bool is_launched) const;
  // Adds an entry, in place of an entry for the same worker and machine. If the entry cannot be
  // written, it still counts while this object lives.
  absl::Status Add(const QuarantinedWorker& one);
  // Adds an entry that counts while this object lives; for a director that may no longer write.
  void AddHere(const QuarantinedWorker& one);
  // Lifts quarantines, and returns their entries. `worker`: a name, or name@machine. NOT_FOUND: no
  // such worker is quarantined.
  absl::StatusOr<std::vector<QuarantinedWorker>> Remove(std::string_view worker);

 private:
  absl::StatusOr<std::vector<QuarantinedWorker>> Read() const;
  absl::Status Write(const std::vector<QuarantinedWorker>& all) const;

  const std::string path_;
  mutable base::Mutex mutex_;
  std::vector<QuarantinedWorker> unwritten_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
