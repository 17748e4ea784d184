// UnwalledRuns: records the jobs that ran programs without walls, which may have changed the
// project. Walls are missing if the worker's machine has none, or with [cook] walls = "off".
//
// Runs are kept while any cook runs. Beyond kRunsMax runs the oldest is forgotten.
// Threads: one owner.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

class UnwalledRuns {
 public:
  static constexpr size_t kRunsMax = 100'000;

  struct Run {
    std::string package;
    std::string worker;
    absl::Time begin;
    absl::Time end = absl::InfiniteFuture();
    // Why the machine has no walls; empty: [cook] walls = "off".
    std::string why;
  };

  void Begin(AttemptId attempt, Run run);
  void End(AttemptId attempt, absl::Time now);
  // Ends all runs of the worker.
  void Lost(std::string_view worker, absl::Time now);
  void Clear();

  // Returns the packages whose programs may have made a change at `when`, in runs that began at
  // `since` or later; times of the system's clock. Sorted.
  std::vector<std::string> PackagesAt(absl::Time when, absl::Time since) const;
  // Lacking: the workers whose machines have no walls, and the reason of the first worker.
  struct Lacking {
    std::set<std::string> workers;
    std::string why;
  };
  Lacking LackingSince(absl::Time since) const;

 private:
  std::deque<Run> runs_;
  size_t forgotten_ = 0;
  std::map<AttemptId, size_t> running_;  // index in runs_, counting forgotten runs
};

}  // namespace galley::director
