// ProgramRuns: the jobs whose programs nothing keeps from changing the project, since the machine
// does not let their worker, or since [cook] walls = "off" says so: when they ran, and where.
//
// It is kept as long as a cook runs. Beyond kRunsMax jobs the oldest are forgotten.
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

class ProgramRuns {
 public:
  static constexpr size_t kRunsMax = 100'000;

  struct Run {
    std::string package;
    std::string worker;
    absl::Time begin;
    absl::Time end = absl::InfiniteFuture();
    // Why the machine does not let its worker; empty: nobody wants walls.
    std::string why;
  };

  void Begin(AttemptId attempt, Run run);
  void End(AttemptId attempt, absl::Time now);
  // All jobs of the worker are over.
  void Lost(std::string_view worker, absl::Time now);
  void Clear();

  // The packages whose programs may have done at `when` what the system's clock says was done then;
  // of cooks that began at `since` or later. Sorted.
  std::vector<std::string> PackagesAt(absl::Time when, absl::Time since) const;
  // The workers that lack walls, and the first reason; no workers: none does.
  struct Lacking {
    std::set<std::string> workers;
    std::string why;
  };
  Lacking LackingSince(absl::Time since) const;

 private:
  std::deque<Run> runs_;
  size_t forgotten_ = 0;
  std::map<AttemptId, size_t> running_;  // place in runs_, with those that were forgotten
};

}  // namespace galley::director
