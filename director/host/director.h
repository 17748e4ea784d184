// Director: everything that a process holds for a project that it cooks, across cooks: the
// project's lock, home and journal, its stores, its cookers, and the workers that an earlier
// director left. Each cook is a CookRun.
//
//   Open   (CookRun Settle)*   Close
//
// Threads: MayWrite, IsStoreAnother, RemoteDown, setup, TakeUp, Settle, remaker and
// stores().store(): any; the other functions: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/project/project.h"
#include "common/project/resolver.h"
#include "common/store/interface/store.h"
#include "director/host/cook_report.h"
#include "director/host/held_project.h"
#include "director/host/inheritance.h"
#include "director/host/project_stores.h"
#include "director/journal/journal.h"
#include "director/remake/remaker.h"
#include "director/shell/cook_event.h"
#include "director/shell/describe.h"
#include "director/shell/kept_sources.h"
#include "director/shell/write_back.h"

namespace galley::director {

// Setup: one state of the project file and of the cookers, which decides what packages are and how
// they are cooked. Immutable.
struct Setup {
  std::shared_ptr<const project::Project> project;
  Cookers cookers;
  std::shared_ptr<const project::RecipeResolver> resolver;
};
using SetupPtr = std::shared_ptr<const Setup>;

// Returns the socket at which a director of the project is found.
std::string SocketOf(const project::Project& project);

struct DirectorOptions {
  std::shared_ptr<const project::Project> project;
  std::string worker_program;                      // galley-worker
  std::map<std::string, std::string> environment;  // what env(...) observes
  bool is_verbose = false;                         // debug lines in the log
  bool is_resident = false;                        // the director stays when a cook has ended
  HoldOptions hold;
};

class Director {
 public:
  // Takes the project, after another director if there is one, and opens everything in it. `sink`
  // and `stop` are used only during the call. Errors: outcome_status.h.
  static absl::StatusOr<std::unique_ptr<Director>> Open(DirectorOptions options,
                                                        CookEventSink& sink, Cancellation& stop);

  // The project when the director was opened. Only for values that do not change while it lives,
  // such as [store] and folders.
  const project::Project& project() const { return *options_.project; }
  // The setup for a cook that begins now.
  SetupPtr setup() const;
  // Makes a setup from `project` and the present cookers, sets it, and returns it. Errors:
  // outcome_status.h; the setup stays the same.
  absl::StatusOr<SetupPtr> TakeUp(std::shared_ptr<const project::Project> project);

  const std::string& worker_program() const { return options_.worker_program; }
  const std::map<std::string, std::string>& environment() const { return options_.environment; }
  const std::string& project_id() const { return held_->project_id(); }
  bool is_resident() const { return options_.is_resident; }
  uint32_t term() const { return term_; }  // higher than the term of each earlier director

  ProjectStores& stores() { return *stores_; }
  Journal& journal() { return *journal_; }
  WriteBack* write_back() { return write_back_.get(); }  // null: nothing is sent to a remote
  // Makes outputs of stored results again. Any thread; beside the cooks.
  Remaker& remaker() { return *remaker_; }
  KeptSources* kept_sources() { return kept_sources_.get(); }  // null: sources are not kept

  // FAILED_PRECONDITION: another director has the project now.
  absl::Status MayWrite() const { return held_->MayWrite(); }
  // Says whether the store that this director has used was replaced by another or an older store,
  // or is damaged: its folder, or files in it, were deleted or replaced, or the process that owns
  // the store serves another store. Errors: from the store. Any thread.
  absl::StatusOr<bool> IsStoreAnother() const;
  // Opens the present store, and notes the change (repairs.h). The journal forgets the keys of
  // roots that are not the last roots of this store. REQUIRES: nothing uses the store.
  absl::Status TakeUpStore();

  // "down since 14:05"; empty: the remote is not down, or there is none.
  std::string RemoteDown() const { return stores_->RemoteDown(); }

  // The worlds whose roots were staged by cooks of the present shell, by the folder of the sandbox.
  // Any thread.
  WorldOrder& staged_worlds() { return staged_worlds_; }

  // Begins the term of a new shell. The first shell has the term with which the director was
  // opened; each later shell has a higher term.
  void BeginTerm();
  // Called in each term, after ApplyDifference and before the shell starts. The first call returns
  // what the previous director left; later calls return nothing.
  absl::StatusOr<Inheritance> TakeOver();

  // Called after a cook: sends waiting results to the remote. A resident director does not wait for
  // them after a cook that was cut short. Failures are warnings, because the cook is right without
  // the remote. REQUIRES: last.outcome.
  void Settle(const CookReport& last, CookEventSink& sink, Cancellation& stop);
  // Called after the last cook: stops calls to the remote, keeps the store within its size, and
  // gives back its dead bytes. Failures are warnings. A resident director drops the sources that
  // wait to be put into the store, a hosted one puts them first.
  void Close(CookEventSink& sink, Cancellation& stop);

 private:
  Director(DirectorOptions options, std::unique_ptr<HeldProject> held);
  absl::Status OpenAll(CookEventSink& sink);
  absl::Status OpenLog(const std::string& state) const;
  absl::StatusOr<SetupPtr> MakeSetup(std::shared_ptr<const project::Project> project) const;
  absl::Status ForgetOvertaken();
  void StartWriteBack();
  void KeepSources();
  std::string IdentityOf(std::string_view cooker) const;
  void TellUnkept(CookEventSink& sink);
  void FlushWriteBack(bool is_cut_short, CookEventSink& sink, Cancellation& stop)
      GALLEY_REQUIRES(settling_);

  const DirectorOptions options_;
  const std::unique_ptr<HeldProject> held_;
  std::vector<WorkerRecord> survivors_;  // until TakeOver
  bool has_term_begun_ = false;
  bool has_taken_over_ = false;
  mutable base::Mutex mutex_;
  SetupPtr setup_ GALLEY_GUARDED_BY(mutex_);
  std::unique_ptr<ProjectStores> stores_;
  std::unique_ptr<Journal> journal_;
  uint32_t term_ = 0;
  WorldOrder staged_worlds_;
  base::Mutex taking_up_;  // locked before mutex_
  base::Mutex settling_;
  // The store when it was last found to be the same.
  mutable store::StoreInfo store_seen_ GALLEY_GUARDED_BY(mutex_);
  WriteBackReport told_ GALLEY_GUARDED_BY(settling_);  // of results that were not sent
  std::unique_ptr<KeptSources> kept_sources_;
  std::unique_ptr<Remaker> remaker_;
  // Last, so that it is destroyed before the journal, which it tells of sent results.
  std::unique_ptr<WriteBack> write_back_;
};

}  // namespace galley::director
