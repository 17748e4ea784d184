// ProgramSideEffects: warns cooks of changes that programs without walls may have made to the
// project. It records the jobs that start such programs, and watches the content meanwhile.
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
#include "director/shell/report_reader.h"
#include "director/shell/unwalled_runs.h"
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
  // Warns a cook, which is about to be closed, of changes that its programs may have made.
  void WarnOfChanges(ActiveCook& cook);
  // Forgets runs and ends the watch. Called when no cook runs any more.
  void ForgetAll();

 private:
  void WatchContent();
  absl::StatusOr<std::vector<FreePrograms::Change>> ChangesBy(const ActiveCook& cook);

  const Deps deps_;
  UnwalledRuns runs_;
  std::unique_ptr<ContentWatch> watch_;  // null: not needed yet, or `blind_` is set
  std::string blind_;                    // why the content cannot be watched
};

}  // namespace galley::director
