// ProgramSideEffects: what programs may have done to the project when nothing keeps them from
// changing it: where jobs ran that start such programs, and what changed in the content meanwhile,
// for the cooks.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "director/core/ids.h"
#include "director/shell/active_cook.h"
#include "director/shell/attached_workers.h"
#include "director/shell/content_watch.h"
#include "director/shell/free_programs.h"
#include "director/shell/program_runs.h"
#include "director/shell/report_reader.h"
#include "director/shell/world.h"

namespace galley::director {

class ProgramSideEffects {
 public:
  // Everything in Deps outlives ProgramSideEffects.
  struct Deps {
    std::string state_directory;
    const WorldHolder& world;
    const AttachedWorkers& workers;
    Clock& clock;
  };
  explicit ProgramSideEffects(Deps deps) : deps_(std::move(deps)) {}

  void NoteGiven(AttemptId attempt, const AttemptInfo& info);
  void NoteEnded(AttemptId attempt) { runs_.End(attempt, deps_.clock.Now()); }
  // Notes that all jobs of the worker are over.
  void NoteLost(const std::string& worker) { runs_.Lost(worker, deps_.clock.Now()); }
  // Tells a cook that ends what its programs may have changed.
  void WarnOfChanges(ActiveCook& cook);
  // Called when no cook runs any more.
  void ForgetAll();

 private:
  void WatchContent();
  absl::StatusOr<std::vector<FreePrograms::Change>> ChangesBy(const ActiveCook& cook);

  const Deps deps_;
  ProgramRuns runs_;
  std::unique_ptr<ContentWatch> watch_;  // null: no such program ran, or blind_
  std::string blind_;                    // why nothing is watched
};

}  // namespace galley::director
