// QuarantineFile: workers that get no more jobs of a project, whoever is its director, until that
// is lifted: <state>/quarantine.
//
//   SealedText "galley-quarantine 1"; for each worker the keys `worker`, `machine`, `why` and
//   `since_us` (since 1970), in this order
//
// A worker that launchers name (`slurm-3`) is meant on its machine only, since such names repeat;
// one that came by itself is meant wherever it runs. The file is read at each question, so that
// `galley readmit` is heard by a director that runs. One that is damaged counts as empty, and the
// log says so.
// Threads: any; several processes: the last of two that write at the same time wins.
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

  // In the order in which they came. An error: the file is there, and cannot be read now.
  absl::StatusOr<std::vector<QuarantinedWorker>> All() const;
  // Empty: it is not quarantined. `is_launched`: a launcher gave its name. Errors as All.
  absl::StatusOr<std::string> WhyOf(std::string_view worker, std::string_view machine,
                                    bool is_launched) const;
  // Replaces what was known of the same worker on that machine. It counts also when it cannot be
  // written, for as long as this object lives.
  absl::Status Add(const QuarantinedWorker& one);
  // For as long as this object lives; for a director that may write no more.
  void AddHere(const QuarantinedWorker& one);
  // `worker`: a name, or name@machine. Returns those that are quarantined no more; NOT_FOUND: none
  // of that name was.
  absl::StatusOr<std::vector<QuarantinedWorker>> Remove(std::string_view worker);

 private:
  absl::StatusOr<std::vector<QuarantinedWorker>> Read() const;
  absl::Status Write(const std::vector<QuarantinedWorker>& all) const;

  const std::string path_;
  mutable base::Mutex mutex_;
  std::vector<QuarantinedWorker> unwritten_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
