// HeldProject: a project of which this process is the only director, and who the project is: its
// lock, its id and its place.
//
// Threads: MayWrite: any; the rest: one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/project/project.h"
#include "director/journal/journal.h"
#include "director/journal/project_home.h"
#include "director/shell/cook_event.h"

namespace galley::director {

struct HoldOptions {
  bool waits = true;  // for another director of the project; else it is an error that there is one
  // Asked now and then while it waits: true: the project is left to the other director, and the
  // holding ends with ABORTED.
  std::function<bool()> gives_way = [] { return false; };
  // Asked before the project is held, and once more when it turns out to be a copy of another one.
  // `project_id`: its id as its state has it; empty: it has none yet. An error ends the holding,
  // and nothing was written by then but the folders of the state.
  std::function<absl::Status(const std::string& project_id)> check;
};

class HeldProject {
 public:
  // Makes the state's folders. Blocking: `stop` ends it. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<HeldProject>> Take(const project::Project& project,
                                                           const HoldOptions& options,
                                                           CookEventSink& sink, Cancellation& stop);

  // FAILED_PRECONDITION: another director has the project now.
  absl::Status MayWrite() const { return lock_->Check(); }
  absl::Status SetTerm(uint32_t term) { return lock_->SetTerm(term); }

  // Gives the project an id if it has none, and records that it is here. Tells that it is a copy.
  absl::Status Settle(const Journal& journal, CookEventSink& sink);
  // REQUIRES: Settle.
  const std::string& project_id() const { return home_.project_id; }

 private:
  HeldProject(const project::Project& project, std::unique_ptr<ProjectLock> lock, ProjectHome home)
      : state_(project.state_directory()),
        root_(project.root),
        lock_(std::move(lock)),
        home_(std::move(home)) {}

  const std::string state_, root_;
  const std::unique_ptr<ProjectLock> lock_;
  ProjectHome home_;
};

}  // namespace galley::director
