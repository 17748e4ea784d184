// CookAdmission: decides which cooks of a Director run at once, and keeps the DirectorShell, with
// workers and worlds, from one cook to the next for as long as the cooks need the same setup.
//
//   Enter   Prepare(Follow)   Cook   Remember   (the CookPermit goes)
//
// Cooks that need the same setup are admitted together. A cook that needs another setup waits until
// no cook is admitted. Then the workers of the old setup end, and the term rises, so that no two
// worlds and no two attempts have the same name.
//
// Permits go to the highest class first, and within a class in the order of numbers: only a cook of
// a higher class overtakes a waiting cook.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "director/host/cook_class.h"
#include "director/host/director.h"
#include "director/host/farm_plan.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

class CookPermit;

class CookAdmission {
 public:
  struct Deps {
    Director& director;
    Trace& trace;
    DirectorDoor* door = nullptr;     // null: the shell opens one while it lives
    FiguresBoard* figures = nullptr;  // null: nobody asks for metrics
  };
  // Everything in `deps` outlives the admission.
  explicit CookAdmission(const Deps& deps) : deps_(deps) {}
  ~CookAdmission() { Close(); }

  // Needs: what a cook needs of everything that it shares with other cooks.
  struct Needs {
    SetupPtr setup;  // null: no other cook is admitted
    ProjectCatalog::Options table;
    // Says whether cooks with these needs can be admitted together: they may differ in mounts,
    // platforms and rules for packages, and in what a cook by the book asks for.
    bool GoWith(const Needs& other) const;
  };

  // Waits for a permit. `wait` is called once if the permit takes time. CANCELLED: `stop` was
  // cancelled.
  absl::StatusOr<std::unique_ptr<CookPermit>> Enter(uint64_t cook, CookClass urgency_class,
                                                    Needs needs, Cancellation& stop,
                                                    const std::function<void()>& wait);

  // Ends the workers. REQUIRES: no cook is admitted, and none enters.
  void Close();

  // The shell that runs cooks now; null: there was no cook yet.
  std::shared_ptr<DirectorShell> shell() const;

 private:
  friend class CookPermit;
  // Ticket: the class, highest first; the number; and a unique number, since several cooks may come
  // without a number.
  using Ticket = std::tuple<int, uint64_t, uint64_t>;

  void Leave();
  // Notices if the store is now another one: then everything known of the store begins anew.
  // Errors: outcome_status.h. REQUIRES: a cook prepares.
  absl::Status LookAtStore();
  // Takes the newest setup: a cook that read the project file later may have prepared earlier.
  void Renew(Needs& needs) const;
  absl::StatusOr<WorldPtr> Follow(const SetupPtr& setup, std::shared_ptr<World> scanned);
  absl::Status Open(const SetupPtr& setup, std::shared_ptr<World> world);
  ShellOptions OptionsOf(const Setup& setup, FarmPlan farm, Inheritance inherited) const;

  const Deps deps_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::set<Ticket> waiting_ GALLEY_GUARDED_BY(mutex_);
  uint64_t came_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint32_t cooks_ GALLEY_GUARDED_BY(mutex_) = 0;  // cooks that are admitted
  Needs needs_ GALLEY_GUARDED_BY(mutex_);         // needs of the admitted cooks
  std::shared_ptr<DirectorShell> shell_ GALLEY_GUARDED_BY(mutex_);
  // Blamed by the cook of a dead director; for the first cook.
  std::vector<CookRequested::Blamed> blamed_ GALLEY_GUARDED_BY(mutex_);

  base::Mutex preparing_;
  SetupPtr setup_;  // setup of the shell; used by a cook that prepares, and by Close
  // The address where workers attach, as [farm] says it and as it was bound; a free port that was
  // chosen stays for the life of the director. Used like setup_.
  std::string farm_asked_, farm_address_;
};

// CookPermit: the right of one cook to run in its CookAdmission, until the permit goes. Threads:
// one.
class CookPermit {
 public:
  CookPermit(CookAdmission& admission, uint64_t cook, CookAdmission::Needs needs)
      : admission_(admission), cook_(cook), needs_(std::move(needs)) {}
  ~CookPermit() { admission_.Leave(); }
  CookPermit(const CookPermit&) = delete;
  CookPermit& operator=(const CookPermit&) = delete;

  uint64_t cook() const { return cook_; }
  // True when no other cook is admitted; in Prepare this holds until Prepare is over.
  bool IsAlone() const {
    base::MutexLock lock(admission_.mutex_);
    return admission_.cooks_ == 1;
  }
  // From Prepare on: with the newest setup that goes with these needs.
  const CookAdmission::Needs& needs() const { return needs_; }
  // A cook that entered without a number gets a number when it is sure to begin: a cook that is
  // refused earlier does not count as a cook of the project.
  void SetNumbering(std::function<uint64_t()> next) { next_ = std::move(next); }
  void TakeNumber() {
    if (cook_ == 0) cook_ = next_();
  }
  // Runs `prepare` while no other cook prepares: a cook never finds older files than the cook
  // before it.
  absl::Status Prepare(const std::function<absl::Status()>& prepare) {
    base::MutexLock lock(admission_.preparing_);
    if (const absl::Status store = admission_.LookAtStore(); !store.ok()) return store;
    admission_.Renew(needs_);
    return prepare();
  }
  // The present world; null: there is none yet.
  WorldPtr Present() const {
    const auto shell = admission_.shell();
    return shell == nullptr ? nullptr : shell->world();
  }
  // Makes `scanned` the present world. Errors: outcome_status.h. REQUIRES: in Prepare.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned) {
    return admission_.Follow(needs_.setup, std::move(scanned));
  }
  // Returns the address where workers attach if none is started from here and none has come yet;
  // otherwise empty. REQUIRES: Follow.
  std::string AwaitsWorkersAt() const {
    const auto shell = admission_.shell();
    const bool awaits = needs_.setup->project->farm.launcher == "none" && shell->Workers().empty();
    return awaits ? shell->farm_address() : "";
  }
  // Runs the cook, which ends soon when `stop` is cancelled. REQUIRES: Follow, TakeNumber.
  absl::StatusOr<ShellOutcome> Cook(CookOrder order, CookEventSink& sink, Cancellation& stop);
  // Writes down the state from which the next director starts. REQUIRES: Follow.
  absl::Status Remember() { return admission_.shell()->Remember(); }

 private:
  CookAdmission& admission_;
  uint64_t cook_;  // 0: no number yet
  CookAdmission::Needs needs_;
  std::function<uint64_t()> next_;
};

}  // namespace galley::director
