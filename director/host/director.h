// Director: what a process has for a project that it cooks, for as long as it does: the project's
// lock, home and journal, its stores, its cookers, and what an earlier director left.
//
// Nothing of it belongs to one cook: each cook is a CookRun, which is constructed for it.
//
//   Open   (CookRun)*   Close
//
// Threads: MayWrite, RemoteDown and stores().store(): any; the rest: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/project/project.h"
#include "common/project/resolver.h"
#include "director/host/cook_listener.h"
#include "director/host/cook_report.h"
#include "director/host/held_project.h"
#include "director/host/inheritance.h"
#include "director/host/project_stores.h"
#include "director/journal/journal.h"
#include "director/shell/describe.h"
#include "director/shell/write_back.h"

namespace galley::director {

struct DirectorOptions {
  std::shared_ptr<const project::Project> project;
  std::string worker_program;                      // galley-worker
  std::map<std::string, std::string> environment;  // what env(...) observes
  bool is_verbose = false;                         // debug lines in the log
  HoldOptions hold;
};

class Director {
 public:
  // Takes the project, waits for another director if need be, and opens all that it has. `listener`
  // and `stop` are used during the call only. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<Director>> Open(DirectorOptions options,
                                                        CookListener& listener, Cancellation& stop);

  const project::Project& project() const { return *options_.project; }
  const std::shared_ptr<const project::Project>& shared_project() const { return options_.project; }
  const std::shared_ptr<const project::RecipeResolver>& resolver() const { return resolver_; }
  const std::string& worker_program() const { return options_.worker_program; }
  const std::map<std::string, std::string>& environment() const { return options_.environment; }
  const Cookers& cookers() const { return cookers_; }
  const std::string& project_id() const { return held_->project_id(); }
  uint32_t term() const { return term_; }  // higher than that of each director before

  ProjectStores& stores() { return *stores_; }
  Journal& journal() { return *journal_; }
  WriteBack* write_back() { return write_back_.get(); }  // null: nothing is sent to a remote

  // FAILED_PRECONDITION: another director has the project now.
  absl::Status MayWrite() const { return held_->MayWrite(); }
  // "down since 14:05"; empty: the remote is not down, or there is none.
  std::string RemoteDown() const { return stores_->RemoteDown(); }

  // The director is at work from now on: the journal has its first difference. Returns what the one
  // before left; later calls return nothing.
  absl::StatusOr<Inheritance> TakeOver();

  // After the last cook: sends what is left to the remote, saves what the next director starts
  // from, and tidies the store. All that goes wrong is a warning: the cooks are right without it.
  // REQUIRES: last.outcome.
  void Close(const CookReport& last, CookListener& listener, Cancellation& stop);

 private:
  Director(DirectorOptions options, std::unique_ptr<HeldProject> held);
  absl::Status OpenAll(CookListener& listener);
  absl::Status OpenLog(const std::string& state) const;
  absl::Status AskCookers(const std::string& state);
  void StartWriteBack();
  void FlushWriteBack(bool is_cut_short, CookListener& listener, Cancellation& stop);
  void Remember(const ShellOutcome& last, CookListener& listener);

  const DirectorOptions options_;
  const std::unique_ptr<HeldProject> held_;
  std::vector<WorkerRecord> survivors_;  // until TakeOver
  bool has_taken_over_ = false;
  Cookers cookers_;
  std::shared_ptr<const project::RecipeResolver> resolver_;
  std::unique_ptr<ProjectStores> stores_;
  std::unique_ptr<Journal> journal_;
  uint32_t term_ = 0;
  // Last, so that it ends before the journal: it tells that what was sent.
  std::unique_ptr<WriteBack> write_back_;
};

}  // namespace galley::director
