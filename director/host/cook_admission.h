// CookAdmission: decides which cooks of a Director run at once, and keeps their DirectorShell, with
// workers and worlds, from one cook to the next for as long as the cooks need the same of it.
//
//   Enter   Prepare(Follow)   Cook   Remember   (the CookPermit goes)
//
// Cooks that need the same are admitted together. A cook that needs something else waits until none
// is admitted. Then the workers of another setup end, and the term rises, so that no world and no
// attempt has the name of another.
//
// Permits are given to the highest class first, and within a class in the order of numbers: nobody
// overtakes a cook that waits, but a higher class.
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
  // All of `deps` outlives it.
  explicit CookAdmission(const Deps& deps) : deps_(deps) {}
  ~CookAdmission() { Close(); }

  // What a cook needs of all that it shares with others.
  struct Needs {
    SetupPtr setup;  // null: no other cook is admitted
    ProjectCatalog::Options table;
    // Cooks that need these can be admitted together: they may differ in mounts, platforms and
    // rules for packages, and in what a cook by the book asks for.
    bool GoWith(const Needs& other) const;
  };

  // Waits for a permit. `wait` is called once if that takes time. CANCELLED: `stop` was.
  absl::StatusOr<std::unique_ptr<CookPermit>> Enter(uint64_t cook, CookClass urgency_class,
                                                    Needs needs, Cancellation& stop,
                                                    const std::function<void()>& wait);

  // Ends the workers. REQUIRES: no cook is admitted, and none enters.
  void Close();

  // The shell at which cooks are now; null: there was no cook yet.
  std::shared_ptr<DirectorShell> shell() const;

 private:
  friend class CookPermit;
  // Class, the highest first; number; and one that no other has: several may come without a number.
  using Ticket = std::tuple<int, uint64_t, uint64_t>;

  void Leave();
  // The store may be another one by now: all that is known then begins anew. Errors:
  // outcome_status.h. REQUIRES: a cook prepares.
  absl::Status LookAtStore();
  // A cook that read the project file later may have prepared earlier.
  void Renew(Needs& needs) const;
  absl::StatusOr<WorldPtr> Follow(const SetupPtr& setup, std::shared_ptr<World> scanned);
  absl::Status Open(const SetupPtr& setup, std::shared_ptr<World> world);
  ShellOptions OptionsOf(const Setup& setup, FarmPlan farm, Inheritance inherited) const;

  const Deps deps_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::set<Ticket> waiting_ GALLEY_GUARDED_BY(mutex_);
  uint64_t came_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint32_t cooks_ GALLEY_GUARDED_BY(mutex_) = 0;  // admitted
  Needs needs_ GALLEY_GUARDED_BY(mutex_);         // theirs
  std::shared_ptr<DirectorShell> shell_ GALLEY_GUARDED_BY(mutex_);
  // By a dead director's cook; for the first cook.
  std::vector<CookRequested::Blamed> blamed_ GALLEY_GUARDED_BY(mutex_);

  base::Mutex preparing_;
  SetupPtr setup_;  // of the shell; whoever prepares, or closes
  // Likewise: where workers attach, as [farm] says it and as it came to be: a port that was free
  // stays theirs for as long as the director lives.
  std::string farm_asked_, farm_address_;
};

// CookPermit: the right of one cook to run in its CookAdmission, until it goes. Threads: one.
class CookPermit {
 public:
  CookPermit(CookAdmission& admission, uint64_t cook, CookAdmission::Needs needs)
      : admission_(admission), cook_(cook), needs_(std::move(needs)) {}
  ~CookPermit() { admission_.Leave(); }
  CookPermit(const CookPermit&) = delete;
  CookPermit& operator=(const CookPermit&) = delete;

  uint64_t cook() const { return cook_; }
  // No other cook is admitted; in Prepare that stays so until it is over.
  bool IsAlone() const {
    base::MutexLock lock(admission_.mutex_);
    return admission_.cooks_ == 1;
  }
  // From Prepare on with the newest setup that goes with it.
  const CookAdmission::Needs& needs() const { return needs_; }
  // A cook that entered without a number gets one when it is sure to begin: one that is refused
  // before that is none of the project's cooks.
  void SetNumbering(std::function<uint64_t()> next) { next_ = std::move(next); }
  void TakeNumber() {
    if (cook_ == 0) cook_ = next_();
  }
  // Runs `prepare` while no other cook prepares: what a cook finds in the files is not older than
  // what the cook before found.
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
  // Where workers attach, if none is started from here and none is there yet; else empty.
  // REQUIRES: Follow.
  std::string AwaitsWorkersAt() const {
    const auto shell = admission_.shell();
    const bool awaits = needs_.setup->project->farm.launcher == "none" && shell->Workers().empty();
    return awaits ? shell->farm_address() : "";
  }
  // Ends soon when `stop` is cancelled. REQUIRES: Follow, TakeNumber.
  absl::StatusOr<ShellOutcome> Cook(CookOrder order, CookEventSink& sink, Cancellation& stop);
  // Writes down from what the next director starts. REQUIRES: Follow.
  absl::Status Remember() { return admission_.shell()->Remember(); }

 private:
  CookAdmission& admission_;
  uint64_t cook_;  // 0: none yet
  CookAdmission::Needs needs_;
  std::function<uint64_t()> next_;
};

}  // namespace galley::director
