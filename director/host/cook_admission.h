// CookAdmission: decides which cooks of a Director run at once, and keeps the DirectorShell, with
// workers and worlds, from one cook to the next for as long as the cooks need the same setup.
//
//   Enter   Prepare(Follow)   Cook   Remember   ~CookPermit
//
// Cooks that need the same setup are admitted together. A cook that needs another setup waits until
// no cook is admitted. Then the workers of the old setup end, and a new term begins, so that names
// of worlds and attempts stay unique.
//
// Permits go to the highest class first, and within a class to the lowest number. So only a cook of
// a higher class overtakes a waiting cook.
//
// Devices need the shell as well, with the world of the present files, and without a cook. Their
// permit is for the time in which they make this world (Prepare, Follow); it counts as no cook.
// Then they ask the shell for packages, as long as the shell lasts: nobody waits for them when
// other workers are needed.
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

namespace galley::director {

class CookPermit;
class DevicePermit;

class CookAdmission {
 public:
  struct Deps {
    Director& director;
    Trace& trace;
    DirectorDoor* door = nullptr;     // null: the shell opens a door of its own
    FiguresBoard* figures = nullptr;  // null: there are no metrics
  };
  // Everything in `deps` outlives the admission.
  explicit CookAdmission(const Deps& deps) : deps_(deps) {}
  ~CookAdmission() { Close(); }

  // Needs: the state that a cook shares with other cooks. Packages that the cook leaves out, and
  // its cultures, are in the CookFilter of its request, and shared with no other cook.
  struct Needs {
    SetupPtr setup;  // null: no other cook is admitted
    // Says whether cooks with these needs can be admitted together. Their projects may differ in
    // mounts, platforms and rules, and in [cook] values that only select packages or cultures.
    bool GoWith(const Needs& other) const;
  };

  // Waits for a permit. Calls `wait` once, before it waits. CANCELLED: `stop` was cancelled.
  absl::StatusOr<std::unique_ptr<CookPermit>> Enter(uint64_t cook, CookClass urgency_class,
                                                    Needs needs, Cancellation& stop,
                                                    const std::function<void()>& wait);

  // Waits for the permit of devices, which comes at once if the needs go with those of the
  // admitted cooks, or if no cook is admitted. Otherwise the workers must be replaced first:
  // devices wait for the end of the admitted cooks, with the highest class. Calls `wait` once,
  // before it waits. CANCELLED: `stop` was cancelled.
  absl::StatusOr<std::unique_ptr<DevicePermit>> EnterForDevices(Needs needs, Cancellation& stop,
                                                                const std::function<void()>& wait);

  // Ends the workers. REQUIRES: no cook is admitted, and none enters.
  void Close();

  // The shell that runs cooks now; null: no cook was prepared yet, or Close was called since.
  std::shared_ptr<DirectorShell> shell() const;

 private:
  friend class WorldPermit;
  friend class CookPermit;
  friend class DevicePermit;
  // Ticket: the class, highest first; the cook's number; and a unique number, because several cooks
  // may have no number yet.
  using Ticket = std::tuple<int, uint64_t, uint64_t>;

  void Leave();
  void LeaveForDevices();
  // Says whether anybody may be admitted, whatever is needed.
  bool IsFree() const GALLEY_REQUIRES(mutex_) { return cooks_ == 0 && devices_ == 0; }
  // If the store was replaced, ends the workers and opens the present store. `own`: cooks that the
  // caller has admitted. Errors: outcome_status.h. REQUIRES: a cook, or devices, prepare.
  absl::Status LookAtStore(uint32_t own);
  // Replaces the setup in `needs` by the newest setup that goes with it: a cook that read the
  // project file later may have prepared earlier.
  void Renew(Needs& needs) const;
  absl::StatusOr<WorldPtr> Follow(const SetupPtr& setup, std::shared_ptr<World> scanned);
  absl::Status Open(const SetupPtr& setup, std::shared_ptr<World> world);
  ShellOptions OptionsOf(const Setup& setup, FarmPlan farm, Inheritance inherited) const;

  const Deps deps_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::set<Ticket> waiting_ GALLEY_GUARDED_BY(mutex_);
  uint64_t came_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint32_t cooks_ GALLEY_GUARDED_BY(mutex_) = 0;    // cooks that are admitted
  uint32_t devices_ GALLEY_GUARDED_BY(mutex_) = 0;  // permits for devices
  Needs needs_ GALLEY_GUARDED_BY(mutex_);           // needs of the admitted cooks and devices
  std::shared_ptr<DirectorShell> shell_ GALLEY_GUARDED_BY(mutex_);
  // Packages that the cook of a dead director blamed; for the first cook.
  std::vector<CookRequested::Blamed> blamed_ GALLEY_GUARDED_BY(mutex_);

  base::Mutex preparing_;
  SetupPtr setup_;  // setup of the shell; used by a cook that prepares, and by Close
  // The address where workers attach, as configured and as bound: a port that the system chose
  // stays for the life of the director. Used like setup_.
  std::string farm_asked_, farm_address_;
};

// WorldPermit: the right to make a world the present world of a CookAdmission: what the permits of
// cooks and of devices have in common.
// Threads: one.
class WorldPermit {
 public:
  WorldPermit(const WorldPermit&) = delete;
  WorldPermit& operator=(const WorldPermit&) = delete;

  // The needs of the cook, or of devices; from Prepare on with the newest setup that goes with
  // them.
  const CookAdmission::Needs& needs() const { return needs_; }
  // Runs `prepare` while nobody else prepares: a cook never finds older files than the cook before
  // it.
  absl::Status Prepare(const std::function<absl::Status()>& prepare) {
    base::MutexLock lock(admission_.preparing_);
    if (const absl::Status store = admission_.LookAtStore(cooks_); !store.ok()) return store;
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

 protected:
  // `cooks`: cooks that are admitted by this permit: one or none.
  WorldPermit(CookAdmission& admission, CookAdmission::Needs needs, uint32_t cooks)
      : admission_(admission), needs_(std::move(needs)), cooks_(cooks) {}
  ~WorldPermit() = default;

  CookAdmission& admission_;

 private:
  CookAdmission::Needs needs_;
  const uint32_t cooks_;
};

// CookPermit: the right of one cook to run in a CookAdmission, until the permit is destroyed.
// Threads: one.
class CookPermit final : public WorldPermit {
 public:
  CookPermit(CookAdmission& admission, uint64_t cook, CookAdmission::Needs needs)
      : WorldPermit(admission, std::move(needs), /*cooks=*/1), cook_(cook) {}
  ~CookPermit() { admission_.Leave(); }

  uint64_t cook() const { return cook_; }
  // True: no other cook is admitted. A cook that is admitted during Prepare runs only after it.
  bool IsAlone() const {
    base::MutexLock lock(admission_.mutex_);
    return admission_.cooks_ == 1;
  }
  // Sets how a cook that entered without a number gets its number, in TakeNumber: only a cook that
  // is sure to begin counts as a cook of the project.
  void SetNumbering(std::function<uint64_t()> next) { next_ = std::move(next); }
  void TakeNumber() {
    if (cook_ == 0) cook_ = next_();
  }
  // Returns the address where workers attach, if launcher = "none" and no worker has attached yet;
  // otherwise empty. REQUIRES: Follow.
  std::string AwaitsWorkersAt() const {
    const auto shell = admission_.shell();
    const bool awaits = needs().setup->project->farm.launcher == "none" && shell->Workers().empty();
    return awaits ? shell->farm_address() : "";
  }
  // Runs the cook, which ends soon when `stop` is cancelled. REQUIRES: Follow, TakeNumber.
  absl::StatusOr<ShellOutcome> Cook(CookOrder order, CookEventSink& sink, Cancellation& stop);
  // Writes down the state from which the next director starts. REQUIRES: Follow.
  absl::Status Remember() { return admission_.shell()->Remember(); }

 private:
  uint64_t cook_;  // 0: no number yet
  std::function<uint64_t()> next_;
};

// DevicePermit: the right of devices to make their world the present world of a CookAdmission,
// until the permit is destroyed. Cooks that need another setup wait meanwhile.
// Threads: one.
class DevicePermit final : public WorldPermit {
 public:
  DevicePermit(CookAdmission& admission, CookAdmission::Needs needs)
      : WorldPermit(admission, std::move(needs), /*cooks=*/0) {}
  ~DevicePermit() { admission_.LeaveForDevices(); }
};

}  // namespace galley::director
