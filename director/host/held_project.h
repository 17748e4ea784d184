// HeldProject: holds the lock of a project, so that this process is its only director, with the
// project's id and place.
//
// Threads: MayWrite: any; the other functions: one.
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
  // True: Take waits for another director of the project; false: another director is an error.
  bool waits = true;
  // Called now and then during the wait. True: Take gives up, with ABORTED.
  std::function<bool()> gives_way = [] { return false; };
  // Called before the lock is taken, and again if the project is a copy of another project.
  // `project_id`: the id in the project's state; empty: it has none yet. An error ends Take; until
  // then only the folders of the state were written.
  std::function<absl::Status(const std::string& project_id)> check;
};

class HeldProject {
 public:
  // Makes the folders of the state, and takes the lock. Blocks; `stop` ends the call. Errors:
  // outcome_status.h.
  static absl::StatusOr<std::unique_ptr<HeldProject>> Take(const project::Project& project,
                                                           const HoldOptions& options,
                                                           CookEventSink& sink, Cancellation& stop);

  // FAILED_PRECONDITION: another director has the project now.
  absl::Status MayWrite() const { return lock_->Check(); }
  absl::Status SetTerm(uint32_t term) { return lock_->SetTerm(term); }

  // Gives the project an id if it has none, and records its place. Warns if the project is a copy.
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
