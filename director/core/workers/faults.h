// Faults: decides who is to blame for an attempt that ended without a result, and whether the
// package is tried again.
//
// A package with too many own faults is quarantined for the cook: it fails. If an earlier director
// counted too many, it fails as soon as it turns out that it must be cooked.
#pragma once

#include <cstdint>
#include <string>

#include "director/core/core_figures.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/exclusive_run.h"
#include "director/core/workers/worker_choice.h"

namespace galley::director {

class Faults : JobPart {
 public:
  struct Deps {
    KeptFailures& kept_failures;
    Attempts& attempts;
    PackageProgress& package_progress;
    ExclusiveRun& exclusive_run;
    WorkerChoice& worker_choice;
    Breakers& breakers;
  };
  Faults(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void OnOwnFault(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms);
  void OnLateFault(AttemptId id, const WorkerReport::Failed& failed);
  // Returns how many own faults the package has now.
  uint32_t CountOwnFault(PackageId package, WorkerId worker, const WorkerReport::Failed& failed,
                         bool is_of_today = true);
  // Counts a fault of the infrastructure, and fails the platforms after too many. The first fault
  // on a machine (`is_new_there`) does not count while there are other machines to try.
  void BlameInfrastructure(PackageId package, PlatformMask platforms, const std::string& error,
                           const std::string& log, RetryCause cause = RetryCause::kMachine,
                           bool is_new_there = false);
  // Adds the faults that an earlier director counted.
  void AddEarlier(PackageId package, CookRequested::Blamed blamed);
  // True: the package was quarantined, and fails now. REQUIRES: its job is to be handed over.
  // Platforms that only asks want fail for a kept failure; others may be left to be cooked.
  bool Quarantine(PackageId package);
  // True: the package's generator failed on some platform, and is done on none.
  bool HasFailedGenerator(PackageId package) const;

 private:
  bool FailAsKept(PackageId package);
  void QuarantineOnceToCook(PackageId package, const WorkerReport::Failed& failed, uint32_t count);
  static bool IsLimit(const WorkerReport::Failed& failed);
  PlatformMask KeptLimit(const Attempt& attempt, const WorkerReport::Failed& failed) const;

  const Deps deps_;
};

}  // namespace galley::director
